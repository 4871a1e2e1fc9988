import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createCsvReader } from '../../src/core/csv/reader.ts'
import { cpuTimeMs } from '../support/cpu-time.ts'
import { COLUMNS, HEADER, type LargeImports, lineOf, startLargeImports } from './large-imports.ts'
import { ended, resultOf, startImport } from './support.ts'

let large: LargeImports
beforeAll(async () => {
  large = await startLargeImports()
})
afterAll(() => large.stop())

// Processor time, and not the clock: the threads of an import share the cores, however many the machine has. Three
// times by the clock, which is what the benchmark promises on two cores, is about five times here.
test('an import of a large file takes at most five times the processor time of bare inserts of the same rows', async () => {
  const { baseId, door, folder, makeFile, server } = large
  const { path, rows } = await makeFile('ratio.csv', 40 * 1024 ** 2, HEADER, lineOf)
  let best = Number.POSITIVE_INFINITY
  // What shares a core slows either side down: what counts is the best of a few runs.
  for (let run = 0; run < 6 && best > 4.5; run++) {
    const bare = await insertBare(path, join(folder, `bare-${crypto.randomUUID()}.db`))
    const usedBefore = server.cpuTimeMs()
    const job = await ended(
      door,
      await startImport(door, baseId, Bun.file(path), { title: `Ratio ${run}`, columns: COLUMNS }),
    )
    const ratio = (server.cpuTimeMs() - usedBefore) / bare
    expect(resultOf(job).rows).toBe(rows)
    best = Math.min(best, ratio)
  }
  console.log(
    `${rows} rows, ${(statSync(path).size / 1024 ** 2).toFixed(0)} MB: ${best.toFixed(2)} times the processor time of bare inserts, upload included`,
  )
  expect(best).toBeLessThan(5)
}, 300_000)

/** Processor time in milliseconds of one transaction that inserts the file's rows, which are in memory already. */
async function insertBare(path: string, database: string): Promise<number> {
  const reader = createCsvReader({ delimiter: ',', quote: '"' })
  const rows = reader
    .push(await Bun.file(path).text())
    .concat(reader.end())
    .slice(1)
  const file = new Database(database, { create: true })
  file.run('pragma journal_mode = wal')
  const names = COLUMNS.map((_, at) => `c${at}`)
  file.run(
    `create table t (id integer primary key autoincrement, ${names.map((name) => `${name} text`).join(', ')})`,
  )
  const insert = file.prepare(
    `insert into t (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`,
  )
  const startedAt = cpuTimeMs()
  file.transaction(() => {
    for (const row of rows) insert.run(...row)
  })()
  const took = cpuTimeMs() - startedAt
  file.close()
  return took
}
