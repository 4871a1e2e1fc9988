import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PASSWORD } from '../support/app.ts'
import { createTrpcClient } from '../support/client.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'
import type { Column, Door } from './support.ts'

/** Twelve columns of the kinds that people have. */
export const COLUMNS: Column[] = [
  { title: 'Number', type: 'Number' },
  { title: 'Name' },
  { title: 'Email', type: 'Email' },
  { title: 'City' },
  { title: 'Price', type: 'Decimal' },
  { title: 'Quantity', type: 'Number' },
  { title: 'Date', type: 'Date' },
  { title: 'When', type: 'DateTime' },
  { title: 'Done', type: 'Checkbox' },
  { title: 'Status', type: 'SingleSelect', options: { choices: [] } },
  { title: 'Note' },
  { title: 'Url', type: 'URL' },
]

/** The line of a CSV file for a record of these columns. */
export const lineOf = (n: number): string =>
  `${n},Person ${(n * 7919) % 100_003},p${n}@example.com,"City, ${n % 977}",${(n % 10_007) / 100},${n % 501},` +
  `2024-0${1 + (n % 9)}-1${n % 9},2024-01-02 03:04:${10 + (n % 50)},${n % 2 === 0},${['open', 'closed', 'waiting'][n % 3]},` +
  `"Some ""quoted"" note about item ${n} that is a bit longer",https://example.com/items/${n}\n`

/** The first line of such a file. */
export const HEADER = COLUMNS.map(({ title }) => title).join(',')

export interface LargeImports {
  folder: string
  server: ServerProcess
  door: Door
  baseId: string
  /** Writes a file of about so many bytes, and gives its path and its number of rows. */
  makeFile(
    name: string,
    bytes: number,
    header: string,
    line: (n: number) => string,
  ): Promise<{ path: string; rows: number }>
  stop(): Promise<void>
}

/** Starts a server of its own with an empty base, and makes a folder for large files. */
export async function startLargeImports(): Promise<LargeImports> {
  const folder = mkdtempSync(join(tmpdir(), 'sheaf-large-'))
  const server = await startServerProcess(join(folder, 'data'))
  const { token } = await createTrpcClient(server.url).auth.signUp.mutate({
    email: 'ann@example.com',
    password: PASSWORD,
  })
  const { id: baseId } = await createTrpcClient(server.url, token).bases.create.mutate({ title: 'Large' })
  return {
    folder,
    server,
    door: { url: server.url, token },
    baseId,
    async makeFile(name, bytes, header, line) {
      const path = join(folder, name)
      const writer = Bun.file(path).writer()
      let size = 0
      let rows = 0
      const write = (text: string) => {
        size += text.length
        void writer.write(text)
      }
      write(`${header}\n`)
      while (size < bytes) {
        write(line(rows++))
        if (rows % 5000 === 0) await writer.flush()
      }
      await writer.end()
      return { path, rows }
    },
    async stop() {
      await server.end('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
