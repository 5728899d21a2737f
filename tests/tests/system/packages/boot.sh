#!/bin/bash
# Boots systemd on this machine's own files, in namespaces of its own: what it writes is kept in memory and
# gone at the end. $1 is an empty folder, $2 a name that nothing else has.
set -e
over=$1
root=$over/root
mount -t tmpfs -o mode=755 tmpfs "$over"
mkdir "$over/upper" "$over/work" "$root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$over/upper,workdir=$over/work" "$root"
mount -t tmpfs -o mode=755,nosuid,nodev tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/pts" "$root/dev/shm"
for node in null zero full random urandom tty; do
    mknod -m 666 "$root/dev/$node" c $(stat --format '0x%t 0x%T' "/dev/$node")
done
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
: >"$root/etc/machine-id"
# The index of all manual pages takes a minute.
rm -f "$root/var/lib/man-db/auto-update"
# Some machines forbid packages to start services.
rm -f "$root/usr/sbin/policy-rc.d"
# A target of our own: nothing of the machine's services starts.
cat >"$root/etc/systemd/system/trial.target" <<UNIT
[Unit]
Description=Packages on trial
UNIT
groups=$(findmnt --noheadings --first-only --output TARGET --types cgroup2)
mkdir "$groups/$2"
echo $$ >"$groups/$2/cgroup.procs"
exec unshare --pid --net --cgroup --ipc --uts --fork --kill-child bash -c '
set -e
mount -t proc proc "$0/proc"
# The kernel is not ours to set.
mount --bind "$0/proc/sys" "$0/proc/sys"
mount -o remount,bind,ro "$0/proc/sys"
mount -t sysfs -o ro sysfs "$0/sys"
mount -t cgroup2 cgroup2 "$0/sys/fs/cgroup"
cd "$0"
pivot_root . mnt
umount --lazy /mnt
exec env --ignore-environment container=trial PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --unit=trial.target --show-status=false
' "$root"
