import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench } from '../records/support.ts'
import type { TestUser } from '../support/app.ts'
import { createMember } from '../support/factories.ts'
import { doorOf, ended, formatOf, reportOf, resultOf, upload } from './support.ts'

let bench: Bench
let ann: TestUser
beforeAll(async () => {
  bench = await createBench()
  ann = await createMember(bench.app, bench.baseId, 'editor')
})
afterAll(() => bench.stop())

describe('an import into a table of every kind of value', () => {
  test('finds people by e-mail, fills "me", and reports who is no member', async () => {
    const table = await bench.table({
      Title: 'SingleLineText',
      Who: 'User',
      By: { type: 'User', defaultValue: '@me' },
      At: 'Time',
      Long: 'Duration',
      Js: 'JSON',
      Place: 'GeoData',
    })
    const file = [
      'Title,Who,At,Long,Js,Place',
      `a,${ann.email.toUpperCase()},9:5pm,1h 30m,"[1, 2]","48.85, 2.35"`,
      'b,eve@example.com,25:00,soon,{a:1},here',
    ].join('\n')
    const door = doorOf(bench.app, bench.owner)
    const titles = ['Title', 'Who', 'At', 'Long', 'Js', 'Place']
    const { jobId } = await bench.trpc.imports.start.mutate({
      baseId: bench.baseId,
      tableId: table.id,
      uploadId: await upload(door, file),
      width: titles.length,
      format: formatOf(file),
      columns: titles.map((title, index) => ({ index, fieldId: table.field(title).id })),
    })
    expect(resultOf(await ended(door, jobId))).toMatchObject({ rows: 2, cellsRefused: 5 })
    const [a, b] = await table.list()
    const person = ({ id, email }: TestUser) => [{ id, email, display_name: null, meta: null }]
    expect(a).toMatchObject({ Who: person(ann), By: person(bench.owner), At: '21:05:00', Long: 5400 })
    expect(a).toMatchObject({ Js: '[1, 2]', Place: '48.85;2.35' })
    expect(b).toMatchObject({ Who: null, At: null, Long: null, Js: null, Place: null })
    expect((await reportOf(door, jobId)).join('\n')).toContain('eve@example.com')
  })

  test('fills no passwords', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Code: 'Password' })
    const door = doorOf(bench.app, bench.owner)
    const file = 'Code\nsecret\n'
    const start = bench.trpc.imports.start.mutate({
      baseId: bench.baseId,
      tableId: table.id,
      uploadId: await upload(door, file),
      width: 1,
      format: formatOf(file),
      columns: [{ index: 0, fieldId: table.field('Code').id }],
    })
    await expect(start).rejects.toThrow('can’t be imported into')
  })
})
