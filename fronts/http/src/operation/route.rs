//! What a declared operation is in HTTP, where its declaration cannot say it.

use turnstile_chassis::{self as chassis, Class};

use super::{
    Answerer, Audience, Method, Operation, Place, PlacedParameter, Service, Success, problems,
};

/// The answer of a command that has no more to tell than where it is recorded.
pub(crate) const RECEIPT: &str = "Receipt";

/// One line of the table of a service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OperationRoute {
    /// The word of the operation in its declaration.
    pub(crate) word: &'static str,
    method: Method,
    /// The path behind the service's name, with `{names}` of parameters.
    path: &'static str,
    /// Whether it makes something, found at the first of these paths whose names the answer has.
    made_at: Option<&'static [&'static str]>,
    /// The schema of its answer, where that is not the variant of its declaration.
    shown: Option<&'static str>,
    is_versioned: bool,
    has_precondition: bool,
}

const fn route(method: Method, word: &'static str, path: &'static str) -> OperationRoute {
    OperationRoute {
        word,
        method,
        path,
        made_at: None,
        shown: None,
        is_versioned: false,
        has_precondition: false,
    }
}

pub(crate) const fn get(word: &'static str, path: &'static str) -> OperationRoute {
    route(Method::Get, word, path)
}

pub(crate) const fn post(word: &'static str, path: &'static str) -> OperationRoute {
    route(Method::Post, word, path)
}

pub(crate) const fn put(word: &'static str, path: &'static str) -> OperationRoute {
    route(Method::Put, word, path)
}

pub(crate) const fn delete(word: &'static str, path: &'static str) -> OperationRoute {
    route(Method::Delete, word, path)
}

impl OperationRoute {
    /// It makes something, found at the first of these paths whose names the answer has.
    pub(crate) const fn makes(self, at: &'static [&'static str]) -> Self {
        Self {
            made_at: Some(at),
            ..self
        }
    }

    /// Its answer is shown by this schema.
    pub(crate) const fn shows(self, schema: &'static str) -> Self {
        Self {
            shown: Some(schema),
            ..self
        }
    }

    /// Its answer has an entity tag.
    pub(crate) const fn versioned(self) -> Self {
        Self {
            is_versioned: true,
            ..self
        }
    }

    /// It takes `If-Match`.
    pub(crate) const fn with_precondition(self) -> Self {
        Self {
            has_precondition: true,
            ..self
        }
    }

    pub(super) fn operation(
        &self,
        service: Service,
        answerer: Answerer,
        declared: chassis::Operation,
        classes: &[Class],
    ) -> Operation {
        let path = format!("/v1/{}{}", service.name(), self.path);
        let place_of = |name: &str| {
            let in_path = self.path.contains(&format!("{{{name}}}"));
            if in_path {
                Place::Path
            } else {
                self.method.place()
            }
        };
        let parameters = declared.parameters.into_iter();
        let parameters: Vec<PlacedParameter> = parameters
            .map(|declared| PlacedParameter {
                place: place_of(declared.name),
                declared,
            })
            .collect();
        let is_command = matches!(answerer, Answerer::Command(..));
        let has_body = parameters.iter().any(|one| one.place == Place::Body);
        let mut problems = problems(is_command, has_body, classes);
        problems.extend(self.is_versioned.then_some(304));
        problems.extend(self.has_precondition.then_some(412));
        let mut answers = declared.answers.iter();
        let told = answers.find(|variant| !variant.fields.is_empty());
        let told = told.map_or(RECEIPT, |variant| variant.name);
        let schema = self.shown.unwrap_or(told);
        let success = match self.made_at {
            Some(at) => Success::Made { schema, at },
            None => Success::Json(schema),
        };
        Operation {
            answerer,
            method: self.method,
            path,
            id: identifier(service.name(), declared.word),
            summary: declared.sentence,
            parameters,
            success,
            is_versioned: self.is_versioned,
            has_precondition: self.has_precondition,
            problems,
            audience: Audience::Having(service, declared.needed),
        }
    }
}

/// `rooms.look_up` as generated clients call it: `roomsLookUp`.
fn identifier(service: &str, word: &str) -> String {
    let mut identifier = service.to_owned();
    for part in word.split('_') {
        let (first, rest) = part.split_at(1);
        identifier.push_str(&first.to_ascii_uppercase());
        identifier.push_str(rest);
    }
    identifier
}
