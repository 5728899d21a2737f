//! The memory of this process and how it is divided.

use std::fs;

/// The part of the memory that idempotency keys may take: an eighth, as they are there twice while a
/// snapshot is made, and the state beside them is larger.
const KEYS_PART: u64 = 8;

/// What they may take where the system does not say how much memory there is: about eight million keys.
const KEYS_ELSE: u64 = 1 << 30;

/// What they may take on the smallest machine: about half a million keys.
const KEYS_LEAST: u64 = 64 << 20;

/// Bytes that idempotency keys may take, where the configuration does not say.
pub(crate) fn for_keys() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    part_for_keys(in_machine(&machine), turnstile_server::memory_limit())
}

fn part_for_keys(machine: Option<u64>, group: Option<u64>) -> u64 {
    let memory = machine.into_iter().chain(group).min();
    memory.map_or(KEYS_ELSE, |bytes| KEYS_LEAST.max(bytes / KEYS_PART))
}

/// The machine's memory in bytes, as `/proc/meminfo` has it.
fn in_machine(meminfo: &str) -> Option<u64> {
    let mut lines = meminfo.lines();
    let total = lines.find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = total.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kib.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_get_an_eighth_of_what_the_machine_or_the_group_has() {
        const GIB: u64 = 1 << 30;
        let meminfo = "MemTotal:       16777216 kB\nMemFree:         3417064 kB\n";
        assert_eq!(in_machine(meminfo), Some(16 * GIB));
        assert_eq!(in_machine("MemFree: 3 kB\n"), None);
        let rows = [
            (Some(16 * GIB), None, 2 * GIB),
            (Some(16 * GIB), Some(8 * GIB), GIB),
            (Some(256 << 20), None, 64 << 20),
            (None, None, GIB),
        ];
        for (machine, group, expected) in rows {
            assert_eq!(part_for_keys(machine, group), expected);
        }
    }
}
