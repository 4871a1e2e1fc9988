import { writeFileSync } from 'node:fs'
import { findMariadb } from './find-binary.ts'
import { findFreePort } from './free-port.ts'
import { createServerHome, type PrivateServer, runToEnd, startSupervised } from './supervised-server.ts'

// No data outlives the run, so none needs to reach the disk. "loose" makes versions ignore options that they dropped.
const SETTINGS = [
  '--bind-address=127.0.0.1',
  '--skip-name-resolve',
  '--skip-log-bin',
  '--character-set-server=utf8mb4',
  '--max-connections=200',
  '--loose-debug-no-sync',
  '--loose-innodb-flush-log-at-trx-commit=0',
  '--loose-innodb-doublewrite=0',
  '--loose-performance-schema=OFF',
]

/**
 * Starts a private MariaDB in a temporary folder, on a free port of 127.0.0.1, without touching the system's
 * service. As root it runs as `mysql` (or `nobody`).
 *
 * @param settings further options, such as the path of its certificate
 * @throws Error when MariaDB is not installed or does not start
 */
export async function startMariadb(settings: string[] = []): Promise<PrivateServer> {
  const programs = findMariadb()
  if (programs === null) throw new Error('MariaDB is not installed: apt-get install mariadb-server')
  const { dir, runAs } = createServerHome('mariadb', ['mysql', 'nobody'])
  const password = crypto.randomUUID()
  const initFile = `${dir}/init.sql`
  writeFileSync(
    initFile,
    `CREATE USER IF NOT EXISTS sheaf@'%' IDENTIFIED BY '${password}';\n` +
      `GRANT ALL PRIVILEGES ON *.* TO sheaf@'%' WITH GRANT OPTION;\n` +
      `DELETE FROM mysql.global_priv WHERE User NOT IN ('sheaf', 'mariadb.sys');\nFLUSH PRIVILEGES;\n`,
    { mode: 0o644 }, // The folder itself is closed to others.
  )
  await runToEnd([
    ...runAs,
    programs.installer,
    '--no-defaults',
    `--datadir=${dir}/data`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    '--skip-name-resolve',
    '--loose-debug-no-sync',
    // A starting server removes the temporary tables of all servers with the same folder.
    `--tmpdir=${dir}`,
  ])
  const port = await findFreePort()
  const url = `mysql://sheaf:${password}@127.0.0.1:${port}/mysql`
  const stop = await startSupervised({
    dir,
    signal: 'KILL', // It would only write pages that we are about to remove.
    command: [
      ...runAs,
      programs.server,
      '--no-defaults',
      `--datadir=${dir}/data`,
      `--init-file=${initFile}`,
      `--port=${port}`,
      `--socket=${dir}/socket`,
      `--pid-file=${dir}/pid`,
      `--tmpdir=${dir}`,
      ...SETTINGS,
      ...settings,
    ],
    isReady: async () => {
      await using sql = new Bun.SQL(url, { max: 1 })
      await sql`select 1`
    },
  })
  return { url, stop }
}
