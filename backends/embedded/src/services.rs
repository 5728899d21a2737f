//! The machines of all services, behind one journal.

use turnstile_chassis::Served;
use turnstile_types::{
    Context, Effect, Hosts, Machine, Machines, Malformed, PartitionFounding, Position, Reader,
    Sink, Timestamp, Unapplied, apply_command, effect_of_bytes, read_payload, tell_late_outcomes,
};

use crate::recent::Recent;

/// A service of this server.
pub trait Hosted: Served {
    fn of(services: &Services) -> &Self;

    fn of_mut(services: &mut Services) -> &mut Self;

    /// Its latest events of a replay.
    fn recent(recents: &mut Recents) -> &mut Recent<Self>;
}

/// Writes down what is the same for each service.
macro_rules! hosted {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        $(use turnstile_services::$name::$machine;)+

        /// Every service, in the order of their numbers. None sees another.
        #[derive(Debug)]
        pub struct Services {
            $($name: $machine,)+
        }

        impl Services {
            $(
                #[must_use]
                pub const fn $name(&self) -> &$machine {
                    &self.$name
                }
            )+

            /// What stands, of every service that was used, of the first always.
            pub(crate) fn standing(&self) -> Vec<(u64, String)> {
                let each = [$((Served::is_new(&self.$name), self.$name.standing())),+];
                let used = each.into_iter().enumerate();
                let used = used.filter(|(at, (is_new, _))| *at == 0 || !is_new);
                used.flat_map(|(_, (_, standing))| standing).collect()
            }
        }

        $(
            impl Hosted for $machine {
                fn of(services: &Services) -> &Self {
                    &services.$name
                }

                fn of_mut(services: &mut Services) -> &mut Self {
                    &mut services.$name
                }

                fn recent(recents: &mut Recents) -> &mut Recent<Self> {
                    &mut recents.$name
                }
            }
        )+

        impl Machines for Services {
            const RIGHTS: Option<u8> = Some(Access::SERVICE);

            type RecordCommand<'a> = HostedCommand<'a>;

            fn empty() -> Self {
                Self {
                    $($name: Machine::empty(),)+
                }
            }

            fn found_in(&mut self, founding: &PartitionFounding) {
                $(Machine::found_in(&mut self.$name, founding);)+
            }

            fn read_record(service: u8, payload: &[u8]) -> Result<HostedCommand<'_>, Unapplied> {
                match service {
                    $($machine::SERVICE => {
                        read_payload::<$machine>(payload).map(HostedCommand::$machine)
                    })+
                    _ => Err(Unapplied::UnknownService),
                }
            }

            fn prefetch_record(&self, command: &HostedCommand<'_>) {
                match command {
                    $(HostedCommand::$machine(command) => self.$name.prefetch(command),)+
                }
            }

            fn apply_record(
                &mut self,
                context: &Context<'_>,
                command: &HostedCommand<'_>,
                outcome: Option<&mut Vec<u8>>,
            ) -> Effect {
                match command {
                    $(HostedCommand::$machine(command) => {
                        apply_command(&mut self.$name, context, command, outcome)
                    })+
                }
            }

            fn effect_of_outcome(service: u8, outcome: &[u8]) -> Result<Effect, Unapplied> {
                match service {
                    $($machine::SERVICE => effect_of_bytes::<$machine>(outcome),)+
                    _ => Err(Unapplied::UnknownService),
                }
            }

            fn each_late_outcome(
                &self,
                position: Position,
                take: &mut dyn FnMut(Position, Effect, &[u8]),
            ) {
                $(tell_late_outcomes(&self.$name, position, take);)+
            }

            fn next_deadline(&self) -> Option<Timestamp> {
                let deadlines = [$(Machine::next_deadline(&self.$name)),+];
                deadlines.into_iter().flatten().min()
            }

            fn tick(&mut self, context: &Context<'_>) {
                $(Machine::tick(&mut self.$name, context);)+
            }

            fn forget_events(&mut self) {
                $(self.$name.drain_events(&mut drop);)+
            }

            /// The services one after the other, up to the last to which something has happened, so
            /// that the states of a server that never used the others stay as they were. The first
            /// is always there.
            fn snapshot(&self, out: &mut dyn Sink) {
                let are_new = [$(Served::is_new(&self.$name)),+];
                let last = are_new.iter().rposition(|is_new| !is_new).unwrap_or(0);
                let writes: [&dyn Fn(&mut dyn Sink); _] =
                    [$(&|out: &mut dyn Sink| Machine::snapshot(&self.$name, out)),+];
                writes.iter().take(last + 1).for_each(|write| write(out));
            }

            fn restore(mut reader: Reader<'_>) -> Result<Self, Malformed> {
                Malformed::unless(!reader.is_empty(), "state of a service")?;
                // In the order in which they were written.
                let services = Self {
                    $($name: restore_if_there(&mut reader)?,)+
                };
                reader.finish("end of the snapshot")?;
                Ok(services)
            }

            fn check(&self) -> Result<(), Vec<String>> {
                let checked = [$(Machine::check(&self.$name)),+];
                let violations = checked.into_iter().filter_map(Result::err);
                let violations: Vec<String> = violations.flatten().collect();
                if violations.is_empty() {
                    Ok(())
                } else {
                    Err(violations)
                }
            }
        }

        /// A command of any service.
        #[derive(Debug)]
        pub enum HostedCommand<'a> {
            $($machine(<$machine as Machine>::Command<'a>),)+
        }

        /// The latest events of a replay, of every service.
        #[derive(Debug)]
        pub struct Recents {
            $($name: Recent<$machine>,)+
        }

        impl Recents {
            pub(crate) const fn after(position: Position) -> Self {
                Self {
                    $($name: Recent::after(position),)+
                }
            }

            pub(crate) fn take_from(&mut self, services: &mut Services) {
                $(self.$name.take_from(&mut services.$name);)+
            }

            pub(crate) fn finish(&mut self) {
                $(self.$name.finish();)+
            }

            /// After which position no event is missing, by the numbers of the services.
            pub(crate) fn complete_after(&self) -> Vec<(u8, Position)> {
                vec![$(($machine::SERVICE, self.$name.complete_after())),+]
            }
        }
    };
}

turnstile_services::services!(hosted);

impl Services {
    /// Rooms, and the others as if nothing had ever happened to them.
    #[must_use]
    pub(crate) fn of_rooms(rooms: Rooms) -> Self {
        Self {
            rooms,
            ..Machines::empty()
        }
    }
}

impl<M: Hosted> Hosts<M> for Services {
    fn machine(&self) -> &M {
        M::of(self)
    }

    fn machine_mut(&mut self) -> &mut M {
        M::of_mut(self)
    }
}

/// The next machine, or an empty one where no more are kept.
fn restore_if_there<M: Machine>(reader: &mut Reader<'_>) -> Result<M, Malformed> {
    if reader.is_empty() {
        return Ok(M::empty());
    }
    M::restore_from(reader)
}
