//! The filters of system calls: what reaches other processes, the network, and ways around the other rules.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, sock_filter,
};

use crate::SandboxLevel;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Filters to be applied one after the other, each with its own answer to what it refuses.
pub(super) fn filters(level: SandboxLevel) -> Result<Vec<BpfProgram>, String> {
    let compiled =
        |rules: Conditions, errno| compile(rules.map_err(|error| error.to_string())?, errno);
    let mut filters = Vec::new();
    if level >= SandboxLevel::Files {
        filters.push(without_second_abi(compiled(apart(), libc::EPERM)?));
    }
    if level >= SandboxLevel::FilesNet {
        filters.push(compiled(network(), libc::ENETUNREACH)?);
        filters.push(compiled(refused(), libc::EPERM)?);
        filters.push(compiled(Ok(unknown()), libc::ENOSYS)?);
    }
    Ok(filters)
}

fn compile(rules: Rules, errno: i32) -> Result<BpfProgram, String> {
    let architecture = std::env::consts::ARCH;
    let target = architecture
        .try_into()
        .map_err(|_| format!("system calls cannot be filtered on {architecture}"))?;
    let refuse = SeccompAction::Errno(errno.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, target)
        .and_then(TryInto::try_into)
        .map_err(|error| error.to_string())
}

type Conditions = Result<Rules, seccompiler::BackendError>;

fn when(
    argument: u8,
    how: SeccompCmpOp,
    value: i32,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    let value = u64::from(value.cast_unsigned());
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, how, value)
}

/// A call that may be made when its argument is one value.
fn unless(argument: u8, value: i32) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![when(argument, SeccompCmpOp::Ne, value)?])
}

/// What reaches processes that are not the command's own, beyond signals, of which the kernel's rules know: the calls
/// that name a process, and what System V and POSIX keep for everybody under a number or a name.
///
/// A filter cannot know which processes are the command's own, so it lets each change nobody but itself.
fn apart() -> Conditions {
    let (own, process) = (0, 0);
    let is_set = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    let limit = SeccompRule::new(vec![when(0, SeccompCmpOp::Ne, own)?, is_set])?;
    let mut rules = Rules::from([
        (libc::SYS_prlimit64, vec![limit]),
        // A group may be one that the command has joined.
        (libc::SYS_setpriority, vec![unless(0, process)?, unless(1, own)?]),
        (libc::SYS_ioprio_set, vec![unless(0, IOPRIO_WHO_PROCESS)?, unless(1, own)?]),
    ]);
    for call in FIRST_NAMES_PROCESS {
        rules.insert(*call, vec![unless(0, own)?]);
    }
    rules.extend(APART.iter().map(|call| (*call, Vec::new())));
    Ok(rules)
}

const IOPRIO_WHO_PROCESS: i32 = 1;

/// Calls that change the process that their first argument names, where 0 is the caller.
const FIRST_NAMES_PROCESS: &[i64] = &[
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setaffinity,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];

const APART: &[i64] = &[
    // Other processes. Opening a handle on one is no harm: what can be done with it is here, or is a signal.
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Memory, queues and semaphores of System V, queues of POSIX.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // What others do with their files.
    libc::SYS_fanotify_init,
];

/// Sockets that lead to other machines. The answer is the one that programs have words for.
fn network() -> Conditions {
    let families = [libc::AF_INET, libc::AF_INET6].into_iter();
    let rules = families.map(|family| SeccompRule::new(vec![when(0, SeccompCmpOp::Eq, family)?]));
    Ok(Rules::from([(libc::SYS_socket, rules.collect::<Result<_, _>>()?)]))
}

/// What is not permitted: every other socket that finds its peer by a name, tracing, namespaces, mounts, and what changes
/// the kernel.
fn refused() -> Conditions {
    let other_family = SeccompRule::new(vec![
        when(0, SeccompCmpOp::Ne, libc::AF_INET)?,
        when(0, SeccompCmpOp::Ne, libc::AF_INET6)?,
    ])?;
    // A datagram may name its receiver although the pair is connected, and a raw pair is one of datagrams too.
    let connected = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].into_iter().flat_map(|kind| {
        let close = libc::SOCK_CLOEXEC;
        [kind, kind | close, kind | libc::SOCK_NONBLOCK, kind | close | libc::SOCK_NONBLOCK]
    });
    let connected = connected.map(|kind| when(1, SeccompCmpOp::Ne, kind));
    let other_pair = SeccompRule::new(connected.collect::<Result<_, _>>()?)?;
    let namespaces = [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWCGROUP,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
    ];
    let in_namespace = namespaces.into_iter().map(|flag| {
        SeccompRule::new(vec![when(
            0,
            SeccompCmpOp::MaskedEq(u64::from(flag.cast_unsigned())),
            flag,
        )?])
    });
    let mut rules = Rules::from([
        (libc::SYS_socket, vec![other_family]),
        (libc::SYS_socketpair, vec![unless(0, libc::AF_UNIX)?, other_pair]),
        (libc::SYS_clone, in_namespace.collect::<Result<_, _>>()?),
    ]);
    rules.extend(ALWAYS_REFUSED.iter().map(|call| (*call, Vec::new())));
    #[cfg(target_arch = "x86_64")]
    rules.extend([libc::SYS_iopl, libc::SYS_ioperm].map(|call| (call, Vec::new())));
    Ok(rules)
}

const ALWAYS_REFUSED: &[i64] = &[
    libc::SYS_ptrace,
    // Namespaces, mounts, files by number.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    // Keys.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // The kernel.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_syslog,
];

/// What programs do without when the kernel does not know it. `clone3` hides its flags from a filter, and a ring does
/// what it is told behind every filter's back.
fn unknown() -> Rules {
    let calls = [
        libc::SYS_clone3,
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
    ];
    calls.into_iter().map(|call| (call, Vec::new())).collect()
}

/// Refuses the system calls of the x32 interface, which have numbers of their own under the same architecture.
#[cfg(target_arch = "x86_64")]
fn without_second_abi(program: BpfProgram) -> BpfProgram {
    const X32: u32 = 0x4000_0000;
    let instruction = |code: u32, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    let mut guarded = vec![
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, X32),
        instruction(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs(),
        ),
    ];
    guarded.extend(program);
    guarded
}

#[cfg(not(target_arch = "x86_64"))]
fn without_second_abi(program: BpfProgram) -> BpfProgram {
    program
}
