//! What the modules of the services have in common.

/// The requests to a service of these commands and queries, and the function that reads them.
macro_rules! requests {
    ($command:ty, $query:ty) => {
        /// One request to the service.
        pub type Request<'a> = $crate::Request<'a, $command, $query>;

        /// Reads the arguments of a request whose words the catalogue has counted.
        ///
        /// # Errors
        /// The first argument that is not what it should be.
        #[inline]
        pub fn parse<'a>(
            call: &'static $crate::Call,
            arguments: $crate::Arguments<'a, '_>,
        ) -> Result<Request<'a>, Box<$crate::Invalid>> {
            call.read(arguments, ())
        }
    };
}

/// The function that writes answers to queries; this variant of them is a refusal.
macro_rules! answers {
    ($answer:ident::$refused:ident) => {
        /// Appends what was answered to a query: an object, or a refusal.
        pub fn put_answer(reply: &mut $crate::Encoder<'_>, answer: &$answer) {
            match answer {
                $answer::$refused(refusal) => {
                    $crate::fields::put_refused(reply, refusal, None, false);
                }
                answer => turnstile_chassis::Show::object(reply, answer),
            }
        }
    };
}

pub(crate) use {answers, requests};
