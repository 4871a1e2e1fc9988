import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Base } from '../../src/core/model.ts'
import type { TestApp, TestUser } from '../support/app.ts'
import {
  analyse,
  type Column,
  type Door,
  ended,
  importNew,
  importTables,
  openImports,
  rowsOf,
  upload,
} from './support.ts'

let app: TestApp
let owner: TestUser
let base: Base
let door: Door

beforeAll(async () => {
  ;({ app, owner, base, door } = await openImports())
})
afterAll(() => app.stop())

const COLUMNS: Column[] = [
  { title: 'Name' },
  { title: 'Zip' },
  { title: 'Note', type: 'LongText' },
  { title: 'Count', type: 'Number' },
  { title: 'Exact', type: 'Decimal' },
  { title: 'Done', type: 'Checkbox' },
  { title: 'Day', type: 'Date' },
  { title: 'When', type: 'DateTime', options: { timeZone: 'UTC', seconds: true } },
  { title: 'Mail', type: 'Email' },
]

const FILE = `Name,Zip,Note,Count,Exact,Done,Day,When,Mail
Ann & <Ben>,01234,"two
lines, ""quoted""",9007199254740991,0.30000000000000004,true,2024-02-29,2024-12-31 23:59:58,a@b.org
=1+1,00077,😀 _x0041_,-3,-0.000125,false,1999-12-31,2024-01-01 00:00:00,c@d.org
`

describe('a table that is exported and imported again', () => {
  test.each(['xlsx', 'json'] as const)('has the same cells as %s', async (format) => {
    const made = await importNew(door, base.id, FILE, {
      title: `Of ${format}`,
      columns: COLUMNS,
      timeZone: 'UTC',
    })
    const trpc = app.trpc(owner.token)
    const { views } = await trpc.schema.table.query({ tableId: made.tableId })
    const { jobId } = await trpc.records.export.mutate({
      tableId: made.tableId,
      viewId: views[0]?.id ?? '',
      format,
      timeZone: 'UTC',
    })
    const { result } = await ended(door, jobId)
    const file = await (await fetch(`${app.url}/${(result as { url: string }).url}`)).bytes()
    const uploadId = await upload(door, file, 'exported')
    const [table] = await analyse(door, uploadId)
    const [imported] = await importTables(door, base.id, uploadId, [{ ...table!, name: `Again ${format}` }])
    expect(imported?.report).toEqual([])
    const before = await rowsOf(door, made.tableId)
    expect(imported?.rows).toEqual(before)
    expect(before[0]).toMatchObject({ Zip: '01234', Exact: 0.30000000000000004, Day: '2024-02-29' })
  })
})
