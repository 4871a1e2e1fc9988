import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServerProcess } from '../imports/server-process.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'

const ROOT = join(import.meta.dir, '../..')

/** An installation with a data folder and an empty database, whose data a test moves between the two. */
export interface Place {
  dataDir: string
  database: TestDatabase
  /** Starts a server on the files, or on the database. */
  start(on: Engine): ReturnType<typeof startServerProcess>
  /** What a server prints that does not start, and its exit code. */
  refusalOf(on: Engine): Promise<Ended>
  /** Runs `sheaf move` with these arguments. @param killAfterMs kills it after this time, if it still runs */
  move(args: string[], killAfterMs?: number): Promise<Ended>
  remove(): Promise<void>
}

export type Engine = 'sqlite' | 'postgres'

export interface Ended {
  exitCode: number
  output: string
  /** True if it was killed before it ended. */
  wasKilled: boolean
}

export async function openPlace(): Promise<Place> {
  const database = await createDatabase('postgres')
  const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-move-'))
  const env = (on: Engine) => ({
    DATA_DIR: dataDir,
    DATABASE_URL: on === 'postgres' ? database.url : '',
    SIGN_UPS_PER_HOUR: '1000000',
  })
  async function run(args: string[], on: Engine, killAfterMs?: number): Promise<Ended> {
    const child = Bun.spawn([process.execPath, 'src/main.ts', ...args], {
      cwd: ROOT,
      env: { ...process.env, PORT: '0', HOST: '127.0.0.1', ...env(on) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs)
    const output = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    const exitCode = await child.exited
    clearTimeout(timer)
    return { exitCode, output: output.join('\n'), wasKilled: child.signalCode === 'SIGKILL' }
  }
  return {
    dataDir,
    database,
    start: (on) => startServerProcess(dataDir, env(on)),
    refusalOf: (on) => run([], on),
    move: (args, killAfterMs) => run(['move', ...args], 'postgres', killAfterMs),
    async remove() {
      await database.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
