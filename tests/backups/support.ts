import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { compress, expand } from '../../src/db/backups/compression.ts'
import { startServerProcess } from '../imports/server-process.ts'
import { PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { KEPT_FOLDERS, type Kept, readTables } from '../support/kept-folder.ts'
import { SERVER_MAIN } from '../support/server-main.ts'

const ROOT = join(import.meta.dir, '../..')

/** Time for one test: backups and restores run at the lowest priority, so they take long beside other tests. */
export const BACKUP_TIMEOUT_MS = 600_000

export interface Ended {
  code: number
  output: string
  errors: string
  wasKilled: boolean
}

/** When a command is killed: so long after its start, after it has printed a text, or after something is true. */
export interface Kill {
  afterMs: number
  since?: string | (() => boolean)
}

/** How often that is looked at. */
const LOOK_EVERY_MS = 2

/** A data folder and a folder for backups, with the commands of the program. */
export function openPlace(env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'sheaf-backup-'))
  const dataDir = join(folder, 'data')
  const servers: Awaited<ReturnType<typeof startServerProcess>>[] = []
  const environment = { DATABASE_URL: '', SIGN_UPS_PER_HOUR: '1000000', ...env }
  return {
    folder,
    dataDir,
    backups: join(folder, 'backups'),
    path: (...names: string[]) => join(folder, ...names),
    async start(on = dataDir, more: Record<string, string> = {}) {
      const server = await startServerProcess(on, { ...environment, ...more })
      servers.push(server)
      return server
    },
    /** Runs a command. @param kill kills it, if it still runs */
    async sheaf(args: string[], more: Record<string, string> = {}, kill?: Kill): Promise<Ended> {
      const child = Bun.spawn([process.execPath, SERVER_MAIN, ...args], {
        cwd: ROOT,
        env: { ...process.env, PORT: '0', HOST: '127.0.0.1', DATA_DIR: dataDir, ...environment, ...more },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let timer: Timer | undefined
      const startTimer = () => {
        if (kill) timer ??= setTimeout(() => child.kill('SIGKILL'), kill.afterMs)
      }
      const since = kill?.since
      if (since === undefined) startTimer()
      const watch =
        typeof since === 'function'
          ? setInterval(() => {
              if (since()) startTimer()
            }, LOOK_EVERY_MS)
          : undefined
      const errors = new Response(child.stderr).text()
      let output = ''
      for await (const bytes of child.stdout) {
        output += Buffer.from(bytes).toString()
        if (typeof since === 'string' && output.includes(since)) startTimer()
      }
      const code = await child.exited
      clearInterval(watch)
      clearTimeout(timer)
      return { code, output, errors: await errors, wasKilled: child.signalCode === 'SIGKILL' }
    },
    /** Ends all servers and removes everything. */
    async remove() {
      for (const server of servers) await server.end('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export type Place = ReturnType<typeof openPlace>

/** An account, a base and a table with records in a running server. */
export async function fill(
  url: string,
  rows: number,
  { nameOf = (at: number) => `Order ${at}` }: { nameOf?: (at: number) => string } = {},
) {
  const { token } = await createTrpcClient(url).auth.signUp.mutate({
    email: 'a@example.com',
    password: PASSWORD,
  })
  const trpc = createTrpcClient(url, token)
  const { id: baseId } = await trpc.bases.create.mutate({ title: 'Shop' })
  const { table } = await trpc.schema.createTable.mutate({
    baseId,
    title: 'Orders',
    fields: [
      { title: 'Name', type: 'SingleLineText' },
      { title: 'Qty', type: 'Number' },
      { title: 'Photo', type: 'Attachment' },
    ],
  })
  const path = `/api/v2/tables/${table.id}/records`
  const rest = createRestClient(url, token)
  for (let at = 0; at < rows; at += 1_000) {
    const size = Math.min(1_000, rows - at)
    const answer = await rest.post(
      path,
      Array.from({ length: size }, (_, index) => ({ Name: nameOf(at + index), Qty: at + index })),
    )
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  }
  return { token, trpc, rest, baseId, tableId: table.id, path }
}

/** Signs in to another server with the account of `fill`. */
export async function enter(url: string) {
  const { token } = await createTrpcClient(url).auth.signIn.mutate({
    email: 'a@example.com',
    password: PASSWORD,
  })
  return { token, trpc: createTrpcClient(url, token), rest: createRestClient(url, token) }
}

type Trpc = ReturnType<typeof createTrpcClient>

/** Waits until a job has ended, also while its server restarts. */
export async function endedJob(trpc: Pick<Trpc, 'jobs'>, jobId: string) {
  for (;;) {
    const job = await trpc.jobs.get.query({ jobId })
    if (job.status !== 'waiting' && job.status !== 'active') return job
    await Bun.sleep(30)
  }
}

/** The number of times that the data of a folder were replaced. */
export const replacementsOf = (dataDir: string): number =>
  readdirSync(dataDir).filter((name) => name.startsWith('replaced-')).length

/** Waits until a server has started anew with other data, and is back. @param before `replacementsOf` its data until then */
export async function untilRestarted(url: string, dataDir: string, before: number): Promise<void> {
  const isReady = async () =>
    replacementsOf(dataDir) > before &&
    (await fetch(`${url}/api/v1/ready`).then(
      ({ ok }) => ok,
      () => false,
    ))
  while (!(await isReady())) await Bun.sleep(10)
}

/** Settings of backups into a folder that run on demand only. */
export const settingsOf = (folder: string) => ({
  url: folder,
  endpoint: null,
  region: null,
  accessKeyId: null,
  frequency: 'off' as const,
  time: '03:30',
  weekday: 0,
  timeZone: 'UTC',
  retention: { last: 0, daily: 0, weekly: 0, monthly: 0 },
  test: 'never' as const,
})

/** The id in the output of `sheaf backup`. */
export const backupIn = ({ output, errors }: Ended): string => {
  const id = /^Backup: (\S+)$/m.exec(output)?.[1]
  if (id === undefined) throw new Error(`${output}\n${errors}`)
  return id
}

/** Gives the unencrypted manifest in a file another version. */
export async function setVersion(path: string, version: string): Promise<void> {
  const bytes = await expand(readFileSync(path))
  if (bytes === null) throw new Error(`${path} is damaged`)
  const text = Buffer.from(bytes)
    .toString()
    .replace(/"version":"[^"]+"/, `"version":"${version}"`)
  writeFileSync(path, Buffer.concat(await compress(Buffer.from(text), 'normal')))
}

/** Extracts the data folder of an earlier release. */
export async function extractKept(archive: string, dataDir: string): Promise<Kept> {
  const packed = new Bun.Archive(await Bun.file(join(ROOT, KEPT_FOLDERS, archive)).bytes())
  for (const [name, file] of await packed.files()) {
    const path = join(dataDir, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, await file.bytes())
  }
  return JSON.parse(readFileSync(join(dataDir, 'kept.json'), 'utf8'))
}

/** The records of such a folder, as a server of this version reads them. */
export async function readKept(place: Place, dataDir: string, kept: Kept): Promise<Kept['tables']> {
  const server = await place.start(dataDir)
  const { token } = await createTrpcClient(server.url).auth.signIn.mutate(kept)
  const bases = await createTrpcClient(server.url, token).bases.list.query()
  const base = bases.find(({ title }) => title === kept.baseTitle)
  const tables = await readTables(server.url, token, base?.id ?? '')
  await server.end('SIGTERM')
  return tables
}
