/* A bot that tries what no bot may do, and says what got through.

   Arguments: the process number of the referee, a folder that can be written outside the walls, and
   files that exist and are not its business, after a letter: what a user names in a command is a bot's own. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/inotify.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char got[4096];

static void through(const char *what) {
    strncat(got, " ", sizeof got - strlen(got) - 1);
    strncat(got, what, sizeof got - strlen(got) - 1);
}

#define TRY(what, condition) \
    do {                     \
        errno = 0;           \
        if (condition)       \
            through(what);   \
    } while (0)

static int can_read(const char *path) {
    int fd = open(path, O_RDONLY);
    return fd >= 0 && close(fd) == 0;
}

static int can_list(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY);
    return fd >= 0 && close(fd) == 0;
}

static int can_write(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    return fd >= 0 && close(fd) == 0;
}

static int can_raise(int what) {
    struct rlimit limit;
    if (getrlimit(what, &limit) != 0 || limit.rlim_max == RLIM_INFINITY)
        return 1;
    limit.rlim_max += 1;
    return setrlimit(what, &limit) == 0;
}

static int child(void *argument) {
    (void)argument;
    return 0;
}

static int can_clone(int flags) {
    static char stack[65536];
    int pid = clone(child, stack + sizeof stack, flags | SIGCHLD, NULL);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return pid > 0;
}

static int can_clone3(void) {
    unsigned long long arguments[11] = {CLONE_NEWUSER};
    arguments[4] = SIGCHLD;
    long pid = syscall(SYS_clone3, arguments, sizeof arguments);
    if (pid == 0)
        _exit(0);
    return pid > 0;
}

static int can_watch(void) {
    int fd = inotify_init1(0);
    int watch = inotify_add_watch(fd, "/", IN_ALL_EVENTS);
    close(fd);
    return watch >= 0;
}

static int can_datagram(void) {
    /* A pair that is turned elsewhere. */
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0)
        return 0;
    return 1;
}

int main(int count, char **arguments) {
    int referee = atoi(arguments[1]);
    const char *outside = arguments[2];
    struct timeval now = {1, 0};
    char byte = 0;
    struct iovec here = {&byte, 1}, there = {&byte, 1};

    TRY("read:/etc/passwd", can_read("/etc/passwd"));
    TRY("read:/etc/shadow", can_read("/etc/shadow"));
    TRY("list:/root", can_list("/root"));
    TRY("list:/home", can_list("/home"));
    TRY("list:/", can_list("/"));
    TRY("list:/var", can_list("/var"));
    for (int number = 3; number < count; number++) {
        arguments[number]++;
        TRY(arguments[number], can_read(arguments[number]));
        TRY("chmod-other", chmod(arguments[number], 0777) == 0);
        TRY("utime-other", utimensat(AT_FDCWD, arguments[number], NULL, 0) == 0);
        TRY("truncate-other", truncate(arguments[number], 0) == 0);
        TRY("unlink-other", unlink(arguments[number]) == 0);
        TRY("rename-other", rename(arguments[number], "/tmp/taken") == 0);
        TRY("link-other", link(arguments[number], "/tmp/linked") == 0);
        TRY("append-other", open(arguments[number], O_WRONLY | O_APPEND) >= 0);
    }
    TRY("write-outside", can_write(outside, "written"));
    /* Not where it was started: that may be within the scratch folder. */
    char own[4096] = {0};
    if (readlink("/proc/self/exe", own, sizeof own - 1) > 0 && strrchr(own, '/')) {
        *strrchr(own, '/') = 0;
        TRY("write-own-folder", can_write(own, "probe"));
    } else {
        through("no-own-folder");
    }
    TRY("write:/dev/shm", can_write("/dev/shm", "crownhead-prober"));
    TRY("write:/var/tmp", can_write("/var/tmp", "crownhead-prober"));
    TRY("write:/usr", can_write("/usr", "crownhead-prober"));
    TRY("write:/proc/self", open("/proc/self/oom_score_adj", O_WRONLY) >= 0);
    TRY("chmod:/usr", chmod("/usr", 0755) == 0);
    TRY("device", mknod("/tmp/device", S_IFBLK | 0600, makedev(8, 0)) == 0);

    TRY("watch-files", can_watch());
    TRY("tcp", socket(AF_INET, SOCK_STREAM, 0) >= 0);
    TRY("tcp6", socket(AF_INET6, SOCK_STREAM, 0) >= 0);
    TRY("udp", socket(AF_INET, SOCK_DGRAM, 0) >= 0);
    TRY("raw", socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0);
    TRY("unix", socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
    TRY("netlink", socket(AF_NETLINK, SOCK_RAW, 0) >= 0);
    TRY("packet", socket(AF_PACKET, SOCK_RAW, 0) >= 0);
    TRY("vsock", socket(AF_VSOCK, SOCK_STREAM, 0) >= 0);
    TRY("datagram-pair", can_datagram());

    TRY("signal-referee", kill(referee, 0) == 0);
    TRY("signal-parent", getppid() > 0 && kill(getppid(), SIGTERM) == 0 && getppid() > 1);
    TRY("kill-referee", kill(referee, SIGKILL) == 0);
    TRY("stop-referee", kill(referee, SIGSTOP) == 0);
    TRY("ptrace-referee", ptrace(PTRACE_ATTACH, referee, 0, 0) == 0);
    TRY("ptrace-parent", ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0);
    TRY("ptrace-me", ptrace(PTRACE_TRACEME, 0, 0, 0) == 0);
    TRY("read-memory", process_vm_readv(getppid(), &here, 1, &there, 1, 0) >= 0);
    TRY("write-memory", process_vm_writev(getppid(), &here, 1, &there, 1, 0) >= 0);
    TRY("command-of-parent", can_read("/proc/1/cmdline") || can_list("/proc/1"));
    TRY("pair-of-raw", socketpair(AF_UNIX, SOCK_RAW, 0, (int[2]){0}) == 0);
    TRY("memory-of-parent", can_read("/proc/1/mem") || can_read("/proc/1/environ"));
    TRY("pidfd", syscall(SYS_pidfd_open, referee, 0) >= 0);
    TRY("pidfd-getfd", syscall(SYS_pidfd_getfd, 0, 0, 0) >= 0 || errno != EPERM);
    TRY("limits-of-referee", prlimit(referee, RLIMIT_NOFILE, &(struct rlimit){9, 9}, NULL) == 0);
    TRY("limits-of-parent", prlimit(getppid(), RLIMIT_CPU, &(struct rlimit){9, 9}, NULL) == 0);

    TRY("raise-files", can_raise(RLIMIT_NOFILE));
    TRY("raise-data", can_raise(RLIMIT_DATA));
    TRY("raise-size", can_raise(RLIMIT_FSIZE));
    TRY("raise-core", can_raise(RLIMIT_CORE));
    TRY("raise-priority", setpriority(PRIO_PROCESS, 0, -5) == 0);
    TRY("scheduler", sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){1}) == 0);

    TRY("mount", mount("none", "/tmp", "tmpfs", 0, "") == 0);
    TRY("umount", umount2("/proc", MNT_DETACH) == 0);
    TRY("remount", mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL) == 0);
    TRY("chroot", chroot("/tmp") == 0);
    TRY("pivot-root", syscall(SYS_pivot_root, "/tmp", "/tmp") == 0);
    TRY("open-tree", syscall(SYS_open_tree, AT_FDCWD, "/", 1) >= 0);
    TRY("fsopen", syscall(SYS_fsopen, "tmpfs", 0) >= 0);
    TRY("keyctl", syscall(SYS_keyctl, 0, -3, 1, 0, 0) >= 0);
    TRY("add-key", syscall(SYS_add_key, "user", "x", "y", 1, -3) >= 0);
    TRY("unshare-user", unshare(CLONE_NEWUSER) == 0);
    TRY("unshare-mounts", unshare(CLONE_NEWNS) == 0);
    TRY("clone-user", can_clone(CLONE_NEWUSER));
    TRY("clone-network", can_clone(CLONE_NEWNET));
    TRY("clone3", can_clone3());
    TRY("bpf", syscall(SYS_bpf, 0, NULL, 0) >= 0 || errno != EPERM);
    TRY("perf", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0) >= 0 || errno != EPERM);
    TRY("userfaultfd", syscall(SYS_userfaultfd, 0) >= 0);
    TRY("io-uring", syscall(SYS_io_uring_setup, 1, NULL) >= 0 || errno != EPERM);
    TRY("memfd", syscall(SYS_memfd_create, "x", 0) >= 0);
    TRY("shared-memory", syscall(SYS_shmget, 0, 4096, 01600) >= 0);
    TRY("clock", settimeofday(&now, NULL) == 0);
    TRY("host-name", sethostname("x", 1) == 0);
    TRY("personality", syscall(SYS_personality, 0x0040000) >= 0);
    TRY("privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1);
    TRY("new-system-call", syscall(1000) >= 0 || errno != ENOSYS);
#ifdef __x86_64__
    TRY("x32", syscall(0x40000000 + SYS_getpid) >= 0 || errno != ENOSYS);
#endif

    for (int fd = 3; fd < 256; fd++)
        TRY("descriptor", fcntl(fd, F_GETFD) >= 0);
    for (char **pair = environ; *pair != NULL; pair++)
        TRY("environment", strstr(*pair, "SECRET") != NULL);

    fprintf(stderr, "got through:%s\n", *got ? got : " nothing");
    return 5;
}
