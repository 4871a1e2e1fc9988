import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { startServerProcess } from '../imports/server-process.ts'
import type { TrpcClient } from '../support/client.ts'
import { SERVER_MAIN } from '../support/server-main.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'

const ROOT = join(import.meta.dir, '../..')

/** An installation with a data folder and an empty database, whose data a test moves between the two. */
export interface Place {
  dataDir: string
  database: TestDatabase
  /** Starts a server on the files, or on the database. */
  start(on: Engine): ReturnType<typeof startServerProcess>
  /** What a server prints that does not start, and its exit code. One that does is killed. */
  refusalOf(on: Engine): Promise<Ended>
  /**
   * Runs `sheaf move` with these arguments.
   *
   * @param kill kills it then, if it still runs
   * @param at other ways to the data: another folder, as on another machine, or another address of the database
   */
  move(
    args: string[],
    kill?: Kill,
    at?: Partial<Pick<ReturnType<typeof envOf>, 'DATA_DIR' | 'DATABASE_URL'>>,
  ): Promise<Ended>
  remove(): Promise<void>
}

export type Engine = 'sqlite' | 'postgres'

/** A time in milliseconds, or what it prints. */
type Kill = number | RegExp

export interface Ended {
  exitCode: number
  output: string
  /** True if it was killed before it ended. */
  wasKilled: boolean
}

const envOf = (dataDir: string, databaseUrl: string) => ({
  DATA_DIR: dataDir,
  DATABASE_URL: databaseUrl,
  SIGN_UPS_PER_HOUR: '1000000',
})

export async function openPlace(): Promise<Place> {
  const database = await createDatabase('postgres')
  const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-move-'))
  const env = (on: Engine) => envOf(dataDir, on === 'postgres' ? database.url : '')
  async function run(args: string[], on: Engine, kill?: Kill, at = {}): Promise<Ended> {
    const child = Bun.spawn([process.execPath, SERVER_MAIN, ...args], {
      cwd: ROOT,
      env: { ...process.env, PORT: '0', HOST: '127.0.0.1', ...env(on), ...at },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const timer = typeof kill === 'number' ? setTimeout(() => child.kill('SIGKILL'), kill) : undefined
    const output = await Promise.all(
      [child.stdout, child.stderr].map((stream) =>
        textOf(stream, (text) => {
          if (kill instanceof RegExp && kill.test(text)) child.kill('SIGKILL')
        }),
      ),
    )
    const exitCode = await child.exited
    clearTimeout(timer)
    return { exitCode, output: output.join('\n'), wasKilled: child.signalCode === 'SIGKILL' }
  }
  return {
    dataDir,
    database,
    start: (on) => startServerProcess(dataDir, env(on)),
    refusalOf: (on) => run([], on, /listening/),
    move: (args, kill, at) => run(['move', ...args], 'postgres', kill, at),
    async remove() {
      await database.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

async function textOf(stream: ReadableStream<Uint8Array>, onText: (text: string) => void): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of stream) {
    text += decoder.decode(bytes, { stream: true })
    onText(text)
  }
  return text
}

/** The cells of links and lookups are JSON, which each engine spaces in its own way. */
const LISTS = ['Links', 'LinkToAnotherRecord', 'Lookup']

/** Everything that a person can see of all bases. */
export async function snapshot(api: TrpcClient): Promise<unknown> {
  const bases = await api.bases.list.query()
  return Promise.all(
    bases.map(async ({ id, title }) => {
      const tables = await api.schema.tables.query({ baseId: id })
      const read = tables.map(async ({ id: tableId }) => {
        const { fields, views, table } = await api.schema.table.query({ tableId })
        const page = await api.records.list.query({
          query: { tableId, fieldIds: fields.map((field) => field.id), limit: 1000, offset: 0 },
        })
        const parsed = (row: readonly CellValue[]) =>
          row.map((value, at) =>
            LISTS.includes(fields[at]?.type ?? '') && typeof value === 'string' && value.startsWith('[')
              ? JSON.parse(value)
              : value,
          )
        const histories = page.rows
          .slice(0, 3)
          .map((_row, at) => api.records.history.query({ tableId, recordId: at + 1 }))
        return { table, fields, views, rows: page.rows.map(parsed), histories: await Promise.all(histories) }
      })
      const members = await api.bases.members.query({ baseId: id })
      return { id, title, tables: await Promise.all(read), members }
    }),
  )
}
