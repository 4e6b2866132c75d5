#!/usr/bin/env bash
# A real Slurm on this one machine, for tests: munged, slurmctld and some slurmd ("nodes") without systemd.
#
#   scripts/slurm_local.sh install         Debian's packages, where they are missing (needs root; about 4 MB)
#   scripts/slurm_local.sh start DIR [N]   N nodes (default 2) whose every file lies in DIR, a new folder
#   eval "$(scripts/slurm_local.sh env DIR)"
#   scripts/slurm_local.sh stop DIR        cancels the jobs and ends the processes that `start DIR` began, no others
#
# Nothing outside DIR is written but by `install`; all sockets listen on 127.0.0.1. Steps and memory are not held in by
# cgroups, which containers lack: this is for trying out job arrays, signals and requeues, not for real work.
set -euo pipefail
export PATH=/usr/sbin:/sbin:$PATH

fail() { echo "slurm_local: $*" >&2; exit 1; }

installed() {
    local program
    for program in munged slurmctld slurmd sbatch; do command -v "$program" >/dev/null || return 1; done
}

folder() {  # the absolute path of the folder that a command was given
    [ -n "${1:-}" ] || fail "expected a folder: slurm_local.sh start DIR"
    realpath -m "$1"
}

# --- install -------------------------------------------------------------------------------------------------------

install_packages() {
    ! installed || return 0
    [ "$(id -u)" = 0 ] || fail "Slurm is not installed, and installing it needs root: apt-get install munge slurm-client slurmctld slurmd"
    command -v apt-get >/dev/null || fail "Slurm is not installed, and there is no apt-get to install it with"
    local policy=/usr/sbin/policy-rc.d ours=no log
    # Packages of services start them when they are installed; a policy of 101 forbids it.
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod 755 "$policy"
        ours=yes
    fi
    log=$(mktemp)
    if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        munge slurm-client slurmctld slurmd; } >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        [ "$ours" = no ] || rm -f "$policy"
        fail "apt-get could not install Slurm (all of its output: $log)"
    fi
    rm -f "$log"
    [ "$ours" = no ] || rm -f "$policy"
}

# --- processes: a record holds process number and start time, so that a number given anew is not taken for ours --------

started_at() {  # clock ticks after boot at which process $1 began; nothing where there is none, or only its remains
    local fields
    fields=$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) || return 0
    case $fields in [ZX]*) return 0 ;; esac
    cut -d' ' -f20 <<<"$fields"
}

begin() {  # begin DIR NAME COMMAND…: in a session of its own, its number on record
    local dir=$1 name=$2
    shift 2
    setsid "${WRAP[@]}" "$@" </dev/null >"$dir/log/$name.txt" 2>&1 &
    echo "$! $(started_at $!)" >"$dir/pids/$name"
}

end() {  # end RECORD: TERM, after ten seconds KILL
    local pid since n
    read -r pid since <"$1" || true
    if [ -n "${since:-}" ] && [ "$(started_at "$pid")" = "$since" ]; then
        kill -TERM "$pid" 2>/dev/null || true
        for ((n = 0; n < 100; n++)); do
            [ "$(started_at "$pid")" = "$since" ] || break
            sleep 0.1
        done
        [ "$(started_at "$pid")" != "$since" ] || kill -KILL "$pid" 2>/dev/null || true
    fi
    rm -f "$1"
}

end_tree() {  # a process and its descendants, leaves first
    local child
    for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do end_tree "$child"; done
    kill -KILL "$1" 2>/dev/null || true
}

end_steps() {  # what is left of jobs: slurmstepd outlives slurmd; ours are those whose environment names our configuration
    local process
    for process in /proc/[0-9]*; do
        if [ "$(cat "$process/comm" 2>/dev/null)" = slurmstepd ] &&
            { tr '\0' '\n' <"$process/environ"; } 2>/dev/null | grep -qxF "SLURM_CONF=$1/slurm.conf"; then
            end_tree "${process#/proc/}"
        fi
    done
}

# --- start -----------------------------------------------------------------------------------------------------------

choose_name() {  # daemons listen where the name of their host points: that must be 127.x, or they get a name of their own
    WRAP=()
    NAME=$(hostname -s)
    case $(getent ahostsv4 "$NAME" | head -n 1) in 127.*) return ;; esac
    unshare --uts true 2>/dev/null || fail "the name $NAME is not one of 127.0.0.1; add the line '127.0.0.1 $NAME' to /etc/hosts"
    NAME=localhost
    WRAP=(unshare --uts sh -c 'hostname localhost; exec "$@"' sh)
}

free_ports() {  # the first of $1 free ports in a row
    local first=${SLURM_LOCAL_PORT:-21700} n
    while :; do
        for ((n = 0; n < $1; n++)); do
            if (: <"/dev/tcp/127.0.0.1/$((first + n))") 2>/dev/null; then
                first=$((first + n + 1))
                continue 2
            fi
        done
        echo "$first"
        return
    done
}

write_configuration() {  # write_configuration DIR NODES
    local dir=$1 nodes=$2 port user n
    port=$(free_ports $((nodes + 1)))
    user=$(id -un)
    cat >"$dir/slurm.conf" <<END
ClusterName=local
SlurmctldHost=$NAME(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
# A requeued job may start again once its credential has expired: by default after two minutes.
AuthInfo=socket=$dir/run/munge.socket,cred_expire=5
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/%n.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/%n.log
# Without cgroups, MPI and a data base of accounts
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
# A job that asks for no memory would get the whole node.
DefMemPerCPU=1000
# Nodes may claim cores that the machine does not have.
SlurmdParameters=config_overrides
ReturnToService=2
JobRequeue=1
KillWait=5
MinJobAge=3600
SchedulerParameters=batch_sched_delay=0,sched_interval=1
END
    for ((n = 1; n <= nodes; n++)); do
        echo "NodeName=n$n NodeHostname=$NAME NodeAddr=127.0.0.1 Port=$((port + n)) CPUs=2 RealMemory=8000 State=UNKNOWN"
    done >>"$dir/slurm.conf"
    echo "PartitionName=local Nodes=ALL Default=YES MaxTime=INFINITE State=UP" >>"$dir/slurm.conf"
}

start() {
    local dir nodes=${2:-2} n
    dir=$(folder "${1:-}")
    [ ! -e "$dir" ] || fail "$dir exists already; name a new folder"
    installed || fail "Slurm is not installed; run: scripts/slurm_local.sh install"
    choose_name
    mkdir -p "$dir"/{key,log,pids,run,spool,state}
    chmod 700 "$dir/key"
    (umask 077 && head -c 1024 /dev/urandom >"$dir/key/munge")
    write_configuration "$dir" "$nodes"
    export SLURM_CONF=$dir/slurm.conf
    # --force: a folder above (/tmp) may be written by anybody
    begin "$dir" munged munged --foreground --force --num-threads=2 --socket="$dir/run/munge.socket" \
        --key-file="$dir/key/munge" --pid-file="$dir/run/munged.pid" --log-file="$dir/log/munged.log" \
        --seed-file="$dir/key/seed"
    for ((n = 0; n < 100; n++)); do
        munge --socket="$dir/run/munge.socket" --no-input >/dev/null 2>&1 && break
        sleep 0.1
    done
    begin "$dir" slurmctld slurmctld -D -i
    for ((n = 1; n <= nodes; n++)); do begin "$dir" "node$n" slurmd -D -N "n$n"; done
    for ((n = 0; n < 300; n++)); do
        if [ "$(timeout 5 sinfo --noheader --Node --states=idle --format=%N 2>/dev/null | wc -l)" -eq "$nodes" ]; then
            return
        fi
        sleep 0.2
    done
    tail -n 3 "$dir"/log/* >&2
    stop "$dir"
    fail "the nodes were not ready within a minute"
}

# --- stop --------------------------------------------------------------------------------------------------------------

stop() {
    local dir n record
    dir=$(folder "${1:-}")
    [ -d "$dir/pids" ] || return 0
    export SLURM_CONF=$dir/slurm.conf
    if [ -e "$dir/pids/slurmctld" ] && timeout 10 squeue --noheader >/dev/null 2>&1; then
        squeue --noheader --format=%A | sort -u | xargs -r scancel 2>/dev/null || true
        for ((n = 0; n < 100; n++)); do
            [ -n "$(timeout 5 squeue --noheader 2>/dev/null)" ] || break
            sleep 0.2
        done
    fi
    for record in "$dir"/pids/node* "$dir/pids/slurmctld" "$dir/pids/munged"; do
        [ ! -e "$record" ] || end "$record"
    done
    end_steps "$dir"
}

case ${1:-} in
    install) install_packages ;;
    start) start "${2:-}" "${3:-2}" ;;
    env) printf 'export SLURM_CONF=%q\n' "$(folder "${2:-}")/slurm.conf" ;;
    stop) stop "${2:-}" ;;
    *) sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
