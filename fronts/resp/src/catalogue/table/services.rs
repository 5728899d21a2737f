//! The commands of the services, as their declarations have them.

use turnstile_chassis::{
    self as chassis, Field, Meaning, Need, Operation, Operations, Parameter, Refuse as _,
};
use turnstile_types::Machine;

use super::{Action, Argument, Kind, READ, Syntax, WRITE, argument, option, optional, text, word};
use crate::call::{Call, KEY};

macro_rules! commands {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// The commands of every service.
        pub(super) fn commands() -> Vec<Syntax> {
            let mut all = Vec::new();
            $(all.extend(service::<
                <turnstile_services::$name::$machine as Machine>::Command<'_>,
                <turnstile_services::$name::$machine as Machine>::Query,
            >(stringify!($name), Action::$machine));)+
            all
        }

        /// The names of the services.
        pub const SERVICES: &[&str] = &[$(stringify!($name)),+];

        /// The refusals of a service, in the order of their declaration.
        #[must_use]
        pub fn refusals(service: &str) -> Vec<Meaning> {
            match service {
                $(stringify!($name) => turnstile_services::$name::Refusal::meanings(),)+
                _ => Vec::new(),
            }
        }
    };
}

turnstile_services::services!(commands);

fn service<'a, C: Operations<'a>, Q: Operations<'a>>(
    name: &'static str,
    action: fn(&'static Call) -> Action,
) -> Vec<Syntax> {
    let commands = C::operations()
        .into_iter()
        .map(|operation| (operation, false));
    let queries = Q::operations()
        .into_iter()
        .map(|operation| (operation, true));
    let all = commands.chain(queries);
    all.map(|(operation, is_read)| {
        // As long as the process, like the rest of the table.
        let answer = answer(&operation);
        let call = Call::new(name, operation, is_read, answer);
        syntax(Box::leak(Box::new(call)), action)
    })
    .collect()
}

fn syntax(call: &'static Call, action: fn(&'static Call) -> Action) -> Syntax {
    let group = call.name().split('.').next().unwrap_or_default();
    let operation = call.operation();
    let parameters = operation.parameters.iter().cloned();
    let mut arguments: Vec<Argument> = parameters.map(of_parameter).collect();
    if !call.is_read() {
        arguments.push(option(capitals(KEY), text(KEY)));
    }
    Syntax {
        name: call.name(),
        summary: operation.sentence,
        group,
        arguments: arguments.leak(),
        flags: if call.is_read() { READ } else { WRITE },
        action: Some(action(call)),
        subcommands: &[],
    }
}

/// The fields that an operation is answered with.
fn answer(operation: &Operation) -> Vec<Field> {
    let mut variants = operation.answers.clone();
    for variant in &mut variants {
        // This door answers a deed in a match with what it changed, not with the whole match.
        if variant.name == "Acted" {
            variant.fields = crate::games::deed_fields();
        }
    }
    let mut fields = Vec::new();
    chassis::merge(variants, &mut fields);
    // A mark stands only where it is set, as `replayed` does.
    fields.retain(|field| match &field.kind {
        chassis::Kind::Optional(kind) => !matches!(**kind, chassis::Kind::Flag),
        _ => true,
    });
    fields
}

fn of_parameter(parameter: Parameter) -> Argument {
    let Parameter {
        name, kind, need, ..
    } = parameter;
    match (need, kind) {
        (Need::Required, kind) => argument(name, kind_of(kind)),
        (Need::RequiredOr(none), _) => {
            let either = vec![text(name), word(none, capitals(none))];
            argument(name, Kind::OneOf(either.leak()))
        }
        (Need::Repeated { .. }, kind) => Argument {
            multiple: true,
            ..argument(name, kind_of(kind))
        },
        (Need::Optional, chassis::Kind::Flag) => optional(word(name, capitals(name))),
        (Need::Optional, kind) => option(capitals(name), argument(name, kind_of(kind))),
        (Need::OptionalWord, kind) => optional(argument(name, kind_of(kind))),
    }
}

fn kind_of(kind: chassis::Kind) -> Kind {
    match kind {
        chassis::Kind::Number { .. } | chassis::Kind::Signed { .. } => Kind::Integer,
        chassis::Kind::OneOf(words) => {
            let words: Vec<Argument> = words.iter().map(|one| word(one, capitals(one))).collect();
            Kind::OneOf(words.leak())
        }
        chassis::Kind::Forms { forms, .. } => {
            let forms: Vec<Argument> = forms.iter().map(|form| text(form)).collect();
            Kind::OneOf(forms.leak())
        }
        chassis::Kind::Optional(kind) => kind_of(*kind),
        chassis::Kind::Text(_)
        | chassis::Kind::Pattern { .. }
        | chassis::Kind::Flag
        | chassis::Kind::Decimal
        | chassis::Kind::Night
        | chassis::Kind::Instant
        | chassis::Kind::Cursor
        | chassis::Kind::List(_)
        | chassis::Kind::Object { .. } => Kind::Text,
    }
}

fn capitals(name: &str) -> &'static str {
    name.to_ascii_uppercase().leak()
}
