import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { FIELDS, makeRows } from './bare-table.ts'
import { type Server, startProgram } from './processes.ts'

/** The product's own server with a table of `rows` records, and an API token that may write to it. */
export interface Product extends Server {
  path: string
  tableId: string
  baseId: string
  apiToken: string
  session: string
  /** Stops the server and starts another on the same folder. */
  restart(): Promise<Product>
}

const PASSWORD = 'correct horse battery'

/**
 * Starts the product on an empty folder and fills a table through its API. `stop` removes all.
 *
 * @param env e.g. the database of its metadata and bases
 */
export async function startProduct(rows: number, env: Record<string, string> = {}): Promise<Product> {
  const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-bench-'))
  const start = () => startProgram('src/main.ts', { ...environmentOf(dataDir), ...env })
  const server = await start()
  const url = `http://127.0.0.1:${server.port}`
  const { token: session } = await createTrpcClient(url).auth.signUp.mutate({
    email: 'bench@example.com',
    password: PASSWORD,
  })
  const trpc = createTrpcClient(url, session)
  const base = await trpc.bases.create.mutate({ title: 'Bench' })
  const { table } = await trpc.schema.createTable.mutate({
    baseId: base.id,
    title: 'Orders',
    fields: FIELDS as never,
  })
  const rest = createRestClient(url, session)
  const made = await rest.post('/api/v1/tokens', { description: 'bench' })
  const path = `/api/v2/tables/${table.id}/records`
  await addRows({ port: server.port, session, path }, 0, rows)
  let current = server
  const running = (): Product => ({
    ...current,
    path,
    tableId: table.id,
    baseId: base.id,
    apiToken: made.body.token,
    session,
    async stop() {
      await current.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
    async restart() {
      await current.stop()
      current = await start()
      return running()
    },
  })
  return running()
}

/** Fills the table from so many records to so many. */
export async function addRows(
  { port, session, path }: Pick<Product, 'port' | 'session' | 'path'>,
  present: number,
  wanted: number,
): Promise<void> {
  const rest = createRestClient(`http://127.0.0.1:${port}`, session)
  for (let from = present; from < wanted; from += 10_000) {
    const { status, body } = await rest.post(path, makeRows(Math.min(10_000, wanted - from), from))
    if (status !== 200) throw new Error(`The table could not be filled: ${JSON.stringify(body)}`)
  }
}

export const environmentOf = (dataDir: string): Record<string, string> => ({
  PORT: '0',
  HOST: '127.0.0.1',
  DATA_DIR: dataDir,
  LOG_LEVEL: 'info',
})
