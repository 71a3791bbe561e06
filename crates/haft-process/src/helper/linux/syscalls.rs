//! The filter of system calls: no network, and no way around the other rules.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, sock_filter,
};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Filters to be applied one after the other, each with its own answer to what it refuses.
pub(super) fn filters() -> Result<Vec<BpfProgram>, String> {
    let unreachable = compile(network().map_err(|error| error.to_string())?, libc::ENETUNREACH)?;
    let not_permitted = compile(refused().map_err(|error| error.to_string())?, libc::EPERM)?;
    let unknown = compile(unknown(), libc::ENOSYS)?;
    Ok(vec![unreachable, not_permitted, without_second_abi(unknown)])
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

/// Sockets that lead to other machines. The answer is the one that programs have words for.
fn network() -> Conditions {
    let families = [libc::AF_INET, libc::AF_INET6].into_iter();
    let rules = families.map(|family| SeccompRule::new(vec![when(0, SeccompCmpOp::Eq, family)?]));
    Ok(Rules::from([(libc::SYS_socket, rules.collect::<Result<_, _>>()?)]))
}

/// What is not permitted: every other socket that finds its peer by a name, namespaces, mounts, other processes' memory,
/// and what changes the kernel.
fn refused() -> Conditions {
    let other_family = SeccompRule::new(vec![
        when(0, SeccompCmpOp::Ne, libc::AF_INET)?,
        when(0, SeccompCmpOp::Ne, libc::AF_INET6)?,
    ])?;
    // A datagram may name its receiver although the pair is connected.
    let type_mask = SeccompCmpOp::MaskedEq(0xf);
    let datagram_pair = SeccompRule::new(vec![when(1, type_mask, libc::SOCK_DGRAM)?])?;
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
        (libc::SYS_socketpair, vec![datagram_pair]),
        (libc::SYS_clone, in_namespace.collect::<Result<_, _>>()?),
    ]);
    rules.extend(ALWAYS_REFUSED.iter().map(|call| (*call, Vec::new())));
    #[cfg(target_arch = "x86_64")]
    rules.extend([libc::SYS_iopl, libc::SYS_ioperm].map(|call| (call, Vec::new())));
    Ok(rules)
}

const ALWAYS_REFUSED: &[i64] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
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
