"""One Linux process locks itself down, and tries what must fail: rlimits, Landlock, seccomp. Standard library only.

Called before one line of untrusted code is read. Nothing here takes a layer's word: `attempts` tries and tells.
"""
import ctypes, errno, mmap, os, platform, resource, socket, struct

libc = ctypes.CDLL(None, use_errno=True)
MACHINE = platform.machine()
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# System calls that a pure computation needs, as name=x86_64,aarch64 (-1: there is none). All others are refused with EPERM.
ALLOWED = """read=0,63 write=1,64 munmap=11,215 mremap=25,216 madvise=28,233 brk=12,214 futex=202,98 membarrier=324,283 rseq=334,293
 sched_yield=24,124 rt_sigaction=13,134 rt_sigprocmask=14,135 rt_sigreturn=15,139 sigaltstack=131,132 setitimer=38,103 restart_syscall=219,128
 clock_gettime=228,113 clock_nanosleep=230,115 nanosleep=35,101 gettimeofday=96,169 time=201,-1 getpid=39,172 gettid=186,178
 exit=60,93 exit_group=231,94"""
CHECKED = "mmap=9,222 mprotect=10,226 tgkill=234,131"
LANDLOCK = "create=444,444 restrict=446,446"


def numbers(table: str) -> dict:
    "Call numbers of this machine."
    if MACHINE not in AUDIT_ARCH: return {}
    column = list(AUDIT_ARCH).index(MACHINE)
    found = {name: int(nrs.split(",")[column]) for name, nrs in (entry.split("=") for entry in table.split())}
    return {name: nr for name, nr in found.items() if nr >= 0}


def _bpf(code, k, yes=0, no=0): return struct.pack("<HBBI", code, yes, no, k & 0xFFFFFFFF)
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM
ARCH_AT, NUMBER_AT = 4, 0


def argument(n): return _bpf(LOAD, 16 + 8 * n)


def seccomp_filter(pid: int) -> bytes:
    "The allow-list as a BPF program. A foreign instruction set kills; everything that is not listed gets EPERM, so that there is a traceback."
    executable = [argument(2), _bpf(ANY_BIT, mmap.PROT_EXEC, 0, 1), _bpf(RETURN, REFUSE), _bpf(RETURN, ALLOW)]
    to_self = [argument(0), _bpf(EQUAL, pid, 0, 1), _bpf(RETURN, ALLOW), _bpf(RETURN, REFUSE)]
    bodies = {"mmap": executable, "mprotect": executable, "tgkill": to_self}     # tgkill: abort() and the crash handler
    program = [_bpf(LOAD, ARCH_AT), _bpf(EQUAL, AUDIT_ARCH[MACHINE], 1, 0), _bpf(RETURN, KILL), _bpf(LOAD, NUMBER_AT)]
    if MACHINE == "x86_64": program += [_bpf(AT_LEAST, 0x40000000, 0, 1), _bpf(RETURN, KILL)]      # x32 calls
    for nr in numbers(ALLOWED).values(): program += [_bpf(EQUAL, nr, 0, 1), _bpf(RETURN, ALLOW)]
    for name, nr in numbers(CHECKED).items(): program += [_bpf(EQUAL, nr, 0, len(bodies[name]))] + bodies[name]
    return b"".join(program + [_bpf(RETURN, REFUSE)])


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]


def _must(result, what):
    if result != 0: raise OSError(ctypes.get_errno(), what)


def no_new_privileges(): _must(libc.prctl(38, 1, 0, 0, 0), "no_new_privs")


def seccomp() -> None:
    "Refuse every system call that is not on the list, for good."
    if MACHINE not in AUDIT_ARCH: raise OSError(errno.ENOSYS, f"no system call numbers for {MACHINE}")
    code = seccomp_filter(os.getpid())
    buffer = ctypes.create_string_buffer(code, len(code))
    _must(libc.prctl(22, 2, ctypes.byref(_Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))), 0, 0), "seccomp")


def landlock() -> None:
    "Refuse every path, and where the kernel can: TCP, abstract sockets, signals to others. A ruleset without a rule."
    if MACHINE not in AUDIT_ARCH: raise OSError(errno.ENOSYS, f"no system call numbers for {MACHINE}")
    nr = numbers(LANDLOCK)
    abi = libc.syscall(nr["create"], None, ctypes.c_size_t(0), 1)
    if abi < 1: raise OSError(ctypes.get_errno(), "landlock")
    files = (1 << 13) - 1 | (abi >= 2) << 13 | (abi >= 3) << 14 | (abi >= 5) << 15
    rules = struct.pack("<QQQ", files, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0)[: 24 if abi >= 6 else 16 if abi >= 4 else 8]
    fd = libc.syscall(nr["create"], rules, ctypes.c_size_t(len(rules)), 0)
    if fd < 0: raise OSError(ctypes.get_errno(), "landlock")
    _must(libc.syscall(nr["restrict"], fd, 0), "landlock")
    os.close(fd)


def drop_root() -> None:
    "Become nobody when we are root; inside a user namespace that knows no nobody, stay."
    if os.geteuid(): return
    try: os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
    except OSError: pass


def limits(memory_mb: int, cpu_s: int) -> None:
    "Memory, CPU time, no file, no process, no core dump."
    for name, value in {"CORE": 0, "FSIZE": 0, "MEMLOCK": 0, "MSGQUEUE": 0, "NPROC": 0, "SIGPENDING": 64, "NOFILE": 16,
                        "STACK": 8 << 20, "AS": (memory_mb + 64) << 20}.items():
        key = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(key)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(key, (value, value))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))        # first SIGXCPU, then SIGKILL


# ------------------------------------------------ what really fails
def _tried(f) -> str:
    "'open' when `f` worked, else the name of the error."
    try: f()
    except OSError as e: return errno.errorcode.get(e.errno, type(e).__name__)
    except Exception as e: return type(e).__name__
    return "open"


def _connect(abstract):
    with socket.socket(socket.AF_UNIX) as s: s.settimeout(1); s.connect("\0" + abstract)


def _fork():
    pid = os.fork()
    if pid == 0: os._exit(0)
    os.waitpid(pid, 0)


def _exec():
    if libc.execve(b"/nowhere", None, None) and ctypes.get_errno() != errno.ENOENT: raise OSError(ctypes.get_errno(), "execve")


def _write(folder):
    path = f"{folder}/openadapt-written-by-jail"
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)); os.unlink(path)


def host_view(host: dict) -> dict:
    "Is the host in sight? A namespace shows as: no such file, no such process, nobody listening."
    return {"host_file": _tried(lambda: os.stat("/etc/passwd")), "host_process": _tried(lambda: os.kill(host["pid"], 0)),
            "host_socket": _tried(lambda: _connect(host["abstract"]))}


def file_view() -> dict:
    "Which files open: our own code is readable until Landlock forbids it."
    return {"own_code": _tried(lambda: os.close(os.open(__file__, os.O_RDONLY))), "list_dir": _tried(lambda: os.listdir("/"))}


def limit_view(memory_mb: int) -> dict:
    "Do the limits hold? Processes are not counted for root, so fork is left to the later attempts."
    return {"too_much_memory": _tried(lambda: mmap.mmap(-1, (memory_mb + 128) << 20))}


def attempts(host: dict) -> dict:
    "Everything a mechanism must not be able to do, tried."
    return {**host_view(host), **file_view(), "read_file": _tried(lambda: os.close(os.open("/etc/passwd", os.O_RDONLY))),
            "write_cwd": _tried(lambda: _write(".")), "write_tmp": _tried(lambda: _write("/tmp")),
            "inet": _tried(lambda: socket.socket(socket.AF_INET).close()), "inet6": _tried(lambda: socket.socket(socket.AF_INET6).close()),
            "fork": _tried(_fork), "exec": _tried(_exec), "signal_parent": _tried(lambda: os.kill(os.getppid(), 0)),
            "signal_all": _tried(lambda: os.kill(-1, 0)), "pipe": _tried(lambda: [os.close(f) for f in os.pipe()]),
            "executable_memory": _tried(lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)),
            "set_limits": _tried(lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))}
