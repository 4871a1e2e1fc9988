import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Base } from '../../src/core/model.ts'
import type { TestApp } from '../support/app.ts'
import { until } from '../support/until.ts'
import { analyse, type Door, ended, openImports, resultOf, rowsOf, startImport, upload } from './support.ts'

let app: TestApp
let base: Base
let door: Door
/** The scripts of the threads that have started. */
const started: string[] = []
const { Worker } = globalThis

beforeAll(async () => {
  globalThis.Worker = class extends Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, options)
      started.push(String(url))
    }
  } as typeof Worker
  ;({ app, base, door } = await openImports())
})
afterAll(async () => {
  globalThis.Worker = Worker
  await app.stop()
})

const PEOPLE = 'Name,Age\nAnn,31\nBen,40\n'

const look = async (file: string) => analyse(door, await upload(door, file))

/** Imports a file and gives the job and, if it completed, its rows. */
async function load(file: string, columns = [{ title: 'Name' }, { title: 'Age', type: 'Number' as const }]) {
  const title = `People ${crypto.randomUUID()}`
  const job = await ended(door, await startImport(door, base.id, file, { title, columns }))
  return { job, rows: job.status === 'completed' ? await rowsOf(door, resultOf(job).tableId) : [] }
}

/** Imports a file without rows. */
async function failImport(): Promise<void> {
  const how = { title: 'Nobody', columns: [{ title: 'Name' }], format: { header: false } }
  const job = await ended(door, await startImport(door, base.id, '\n\n', how))
  expect(job.status).toBe('failed')
}

describe('the threads that read files', () => {
  test.each([
    ['a preview', () => look(PEOPLE), 'analysis-worker'],
    ['an import', () => load(PEOPLE), 'import-worker'],
  ])('are used again by %s', async (_, read, script) => {
    // One that has waited for seconds, on a machine that paused, has ended.
    await until(async () => {
      await read()
      started.length = 0
      await read()
      return !started.some((url) => url.includes(script))
    }, 'A thread that is used again')
  })

  test.each([
    ['a preview', () => look('{"a": ').catch(() => {}), () => look(PEOPLE), 'analysis-worker'],
    ['an import', failImport, () => load(PEOPLE), 'import-worker'],
  ])('end with %s that fails', async (_, fail, read, script) => {
    await fail()
    started.length = 0
    await read()
    expect(started.filter((url) => url.includes(script))).toHaveLength(1)
  })

  test('keep nothing of the file before', async () => {
    const before = await look('{"a": [{"b": 1.5}]')
      .then(() => 'read')
      .catch((error: Error) => error.message)
    expect(before).toContain('ends at line 1')
    const [table] = await look(PEOPLE)
    expect(table?.analysis?.rows).toEqual([
      ['Ann', '31'],
      ['Ben', '40'],
    ])
    expect((await load('Name,Age\nAnn,many\n')).rows).toEqual([{ Name: 'Ann', Age: null }])
    expect((await load(PEOPLE)).rows).toEqual([
      { Name: 'Ann', Age: 31 },
      { Name: 'Ben', Age: 40 },
    ])
  })
})
