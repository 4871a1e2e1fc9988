import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Config, readConfig } from '../config.ts'
import { type EmailPluginId, findPlugin, type PluginValues } from '../core/plugins/index.ts'
import { openConnection } from '../db/connection.ts'
import { openExternalEngines } from '../db/external-engines.ts'
import {
  type Finding,
  fail,
  inspectBases,
  inspectMetadata,
  type KnownBases,
  note,
  ok,
} from '../db/inspect.ts'
import { requireWritableLock } from '../db/lock-data-dir.ts'
import { createOpenFiles } from '../db/open-files.ts'
import { mailSettingsOf } from '../mail/plugin-settings.ts'
import { verifySmtp } from '../mail/smtp-channel.ts'
import { createWorkerPool } from '../pool.ts'
import { existingConnectionKey, unseal } from '../secrets.ts'
import { listen } from '../start-failure.ts'
import { bucketProblem, openOwnStore } from '../storage/index.ts'
import { type Command, UsageError } from './command.ts'
import { localUrl } from './health.ts'

const HELP = `Usage: sheaf check [--full]

Looks at the configuration, the data folder, the databases and everything else
that the server needs, and says what is wrong and what to do. Changes nothing:
no file is created and no database is upgraded. Works while a server runs.

  --full   also reads every base file completely and verifies its structure

Each line starts with ok, note or FAIL. The exit code is 1 if a line says FAIL.`

const LABELS = { ok: 'ok  ', note: 'note', fail: 'FAIL' } as const

/** Runs a check; an error is a finding. */
async function tried(what: string, check: () => Finding[] | Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check()
  } catch (error) {
    return [fail(`${what}: ${error instanceof Error ? error.message || error.name : String(error)}`)]
  }
}

/** `sheaf check`: validates what a start needs, without changing it. */
export const check: Command = {
  summary: 'validates the configuration, the databases and the folders',
  help: HELP,
  async run(args, env, print) {
    for (const arg of args) if (arg !== '--full') throw new UsageError(`“sheaf check” has no option ${arg}`)
    const isFull = args.includes('--full')
    const findings: Finding[] = []
    const report = (found: Finding[]) => {
      for (const { level, text } of found) print(`${LABELS[level]}  ${text.replaceAll('\n', '\n      ')}`)
      findings.push(...found)
    }
    let config: Config
    try {
      config = readConfig(env)
      report([ok('Every environment variable has a valid value'), ...checkPublicUrl(config)])
    } catch (error) {
      // Nothing else can be checked with a configuration that is not known.
      report((error instanceof Error ? error.message : String(error)).split('\n').map(fail))
      return 1
    }
    let known: KnownBases | null = null
    const folder = await tried(`The data folder ${config.dataDir} (DATA_DIR)`, () => checkFolder(config))
    report(folder)
    if (folder[0]?.level === 'ok') {
      const metadata = await checkMetadata(config)
      known = metadata.known
      report(metadata.findings)
      report(await tried('The bases', () => inspectBases(config, known, isFull)))
      report(await checkConnected(config, known))
      report(await tried('The store of attachments', () => checkFiles(config)))
    }
    report(await checkMail(config, known))
    report(await tried('The port', () => checkPort(config)))
    const failed = findings.filter(({ level }) => level === 'fail').length
    print(failed === 0 ? 'Nothing is wrong.' : `${failed} ${failed === 1 ? 'problem' : 'problems'} found.`)
    return failed === 0 ? 0 : 1
  },
}

/** The app, its cookies and its sockets expect to be at the root of a host. */
function checkPublicUrl({ publicUrl }: Config): Finding[] {
  if (publicUrl === null || new URL(publicUrl).pathname === '/') return []
  return [fail(`PUBLIC_URL has a path, but Sheaf needs a host name of its own: ${publicUrl}`)]
}

/** Free space below which a server should not run for long. */
const LITTLE_SPACE = 1024 ** 3

function checkFolder({ dataDir, databaseUrl }: Config): Finding[] {
  let existing = dataDir
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing)
  if (!statSync(existing).isDirectory()) return [fail(`${existing} is not a folder (DATA_DIR)`)]
  accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK)
  if (databaseUrl === null) requireWritableLock(dataDir)
  const { bavail, bsize } = statfsSync(existing)
  const free = bavail * bsize
  const space = `${(free / 1024 ** 3).toFixed(1)} GiB free`
  const state = existing === dataDir ? 'is writable' : 'does not exist yet and can be created'
  const found = [ok(`The data folder ${dataDir} ${state}, ${space}`)]
  if (free < LITTLE_SPACE) found.push(fail(`The disk of ${dataDir} is almost full: ${space}`))
  return found
}

async function checkMetadata(config: Config): Promise<{ findings: Finding[]; known: KnownBases | null }> {
  let known: KnownBases | null = null
  const what = config.databaseUrl === null ? 'The metadata' : 'The database of DATABASE_URL'
  const findings = await tried(what, async () => {
    const result = await inspectMetadata(config)
    known = result.known
    return result.findings
  })
  return { findings, known }
}

/** Connects to the databases that bases are connected to. */
async function checkConnected(config: Config, known: KnownBases | null): Promise<Finding[]> {
  const connections = known?.connections ?? []
  if (connections.length === 0) return []
  const key = existingConnectionKey(config)
  if (key === null) {
    return [
      fail(
        `The key of ${connections.length} database connections is missing: restore secrets/connections.secret, or set CONNECTION_SECRET`,
      ),
    ]
  }
  const pool = createWorkerPool(1)
  const engines = openExternalEngines(pool, createOpenFiles(10))
  try {
    const found = connections.map(({ alias, config: sealed }, index) => {
      const name = `The connected database “${alias ?? index + 1}”`
      return tried(name, async () => {
        const engine = engines.get(String(index), '', alias, () => openConnection(key, sealed))
        await engine.all({ sql: 'select 1 as n', params: [] })
        return [ok(`${name} answers`)]
      })
    })
    return (await Promise.all(found)).flat()
  } finally {
    await engines.close()
    pool.close()
  }
}

async function checkFiles(config: Config): Promise<Finding[]> {
  if (config.s3Bucket === null) {
    const folder = join(config.dataDir, 'attachments')
    if (!existsSync(folder)) return []
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return [ok(`Attachments are stored in ${folder}`)]
  }
  const name = `The bucket ${config.s3Bucket}`
  try {
    // A key that no file has: the answer shows whether the bucket and its credentials are right.
    await openOwnStore(config).find('sheaf-check/none')
  } catch (error) {
    return [fail(`${name} (S3_BUCKET): ${bucketProblem(error)}`)]
  }
  return [ok(`${name} answers (S3_BUCKET)`)]
}

/** Signs in to the mail server of the environment, or to the one of the account area. */
async function checkMail(config: Config, known: KnownBases | null): Promise<Finding[]> {
  const { smtpHost } = config
  if (smtpHost !== null) {
    return tried(`The mail server ${smtpHost} (SMTP_HOST)`, async () => {
      await verifySmtp(config)
      return [ok(`The mail server ${smtpHost} accepts the connection and the account`)]
    })
  }
  const stored = known?.plugins.find(({ id }) => findPlugin(id)?.category === 'email')
  if (!stored) {
    return [
      note('No mail server: neither SMTP_HOST nor Setup in the account area has one, so no mail is sent'),
    ]
  }
  const key = existingConnectionKey(config)
  const text = key && unseal(key, stored.input)
  if (text === null) {
    return [
      fail(
        'The mail server of the account area was stored with another key: restore secrets/connections.secret, or set CONNECTION_SECRET',
      ),
    ]
  }
  const settings = mailSettingsOf(
    stored.id as EmailPluginId,
    JSON.parse(text) as PluginValues,
    config.publicUrl,
  )
  const name = `The mail server ${settings.smtpHost} of the account area`
  return tried(name, async () => {
    await verifySmtp(settings)
    return [ok(`${name} accepts the connection and the account`)]
  })
}

async function checkPort(config: Config): Promise<Finding[]> {
  const { host: hostname, port } = config
  if (port !== 0 && (await isOurs(config)))
    return [note(`A Sheaf server already answers on port ${port} of ${hostname}`)]
  const server = listen(config, () => Bun.serve({ hostname, port, fetch: () => new Response() }))
  await server.stop(true)
  return [ok(`Port ${port} of ${hostname} is free`)]
}

/** True if a Sheaf server answers on the port. */
async function isOurs(config: Config): Promise<boolean> {
  try {
    const answer = await fetch(`${localUrl(config)}/api/v1/version`, { signal: AbortSignal.timeout(2_000) })
    return answer.ok && 'currentVersion' in ((await answer.json()) as object)
  } catch {
    // Nothing listens, or something that is not Sheaf: `listen` finds out.
    return false
  }
}
