import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { strToU8, zipSync } from 'fflate'
import { readLinks } from '../../src/core/fields/list-value.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { importFrom, recordsOf, settled, uploadFile } from './support.ts'

let app: TestApp
let owner: TestUser

beforeAll(async () => {
  app = await createTestApp()
  owner = await app.signUp('ann@example.com')
})
afterAll(() => app.stop())

const STATES = [
  { id: 1, value: 'open', color: 'light-blue', order: 0 },
  { id: 2, value: 'paid', color: 'dark-red', order: 1 },
]

const database = {
  id: 5,
  name: 'Shop',
  type: 'database',
  tables: [
    {
      id: 1,
      name: 'Customers',
      order: 1,
      fields: [{ id: 10, type: 'text', name: 'Name', order: 0, primary: true }],
      views: [],
      rows: [
        { id: 1, order: '1.0', created_on: '2023-10-25T19:04:55.554233+00:00', field_10: 'Ann' },
        { id: 2, order: '2.0', created_on: '2023-10-25T19:04:55.554233+00:00', field_10: 'Bo' },
      ],
    },
    {
      id: 2,
      name: 'Orders',
      order: 2,
      fields: [
        { id: 20, type: 'text', name: 'Ref', order: 0, primary: true },
        { id: 21, type: 'number', name: 'Total', order: 1, number_decimal_places: 2 },
        { id: 22, type: 'boolean', name: 'Done', order: 2 },
        { id: 23, type: 'single_select', name: 'State', order: 3, select_options: STATES },
        { id: 24, type: 'multiple_select', name: 'Tags', order: 4, select_options: STATES },
        {
          id: 25,
          type: 'link_row',
          name: 'Customers',
          order: 5,
          link_row_table_id: 1,
          link_row_related_field_id: null,
        },
        { id: 26, type: 'multiple_collaborators', name: 'Team', order: 6 },
        { id: 27, type: 'duration', name: 'Took', order: 7, duration_format: 'h:mm:ss' },
        { id: 28, type: 'file', name: 'Files', order: 8 },
        { id: 29, type: 'created_on', name: 'Made', order: 9, date_include_time: true },
        { id: 30, type: 'last_modified_by', name: 'Changed by', order: 10 },
        {
          id: 31,
          type: 'formula',
          name: 'Twice',
          order: 11,
          formula: 'field("Total") * 2',
          formula_type: 'number',
        },
        { id: 32, type: 'formula', name: 'Row', order: 12, formula: 'row_id()', formula_type: 'number' },
        {
          id: 33,
          type: 'lookup',
          name: 'Names',
          order: 13,
          array_formula_type: 'text',
          through_field_id: 25,
          target_field_id: 10,
        },
        { id: 34, type: 'date', name: 'Due', order: 14, date_format: 'EU', date_include_time: false },
      ],
      views: [
        {
          id: 100,
          type: 'grid',
          name: 'Open',
          order: 1,
          filter_type: 'AND',
          filters_disabled: false,
          filters: [{ id: 1, field_id: 23, type: 'single_select_equal', value: '1', group: null }],
          filter_groups: [],
          sortings: [{ id: 1, field_id: 21, order: 'DESC' }],
          group_bys: [],
          decorations: [],
          field_options: [{ id: 1, field_id: 21, width: 222, hidden: false, order: 1 }],
        },
        { id: 101, type: 'kanban', name: 'Board', order: 2, single_select_field_id: 23, field_options: [] },
      ],
      rows: [
        {
          id: 1,
          order: '1.0',
          created_on: '2023-10-25T19:04:55.554233+00:00',
          updated_on: '2023-10-25T19:14:16.559135+00:00',
          last_modified_by: 'ann@example.com',
          field_20: 'R1',
          field_21: '12.50',
          field_22: 'true',
          field_23: 2,
          field_24: [1, 2],
          field_25: [1, 2],
          field_26: ['ann@example.com'],
          field_27: '1 day, 1:23:45',
          field_28: [
            { name: 'hash1.txt', visible_name: 'a.txt', original_name: 'a.txt' },
            { name: 'hash2.txt', visible_name: 'gone.txt', original_name: 'gone.txt' },
          ],
          field_29: null,
          field_30: null,
          field_31: null,
          field_32: null,
          field_33: null,
          field_34: '2024-02-29',
        },
        {
          id: 2,
          order: '2.0',
          created_on: '2023-10-25T19:04:55+00:00',
          field_20: 'R2',
          field_22: 'false',
          field_25: [],
        },
      ],
    },
  ],
}

const manifest = {
  version: '1.0.0',
  configuration: { only_structure: false },
  applications: {
    database: {
      version: '1.0.0',
      configuration: {},
      items: [
        {
          id: 5,
          type: 'database',
          name: 'Shop',
          uuid: 'x',
          total_files: 1,
          files: { schema: 'database__x_1.json' },
        },
        { id: 6, type: 'database', name: 'Lost', uuid: 'y', total_files: 1, files: { schema: 'gone.json' } },
      ],
    },
    builder: { version: '1.0.0', configuration: {}, items: [] },
  },
}

const from = async (files: Record<string, Uint8Array>, name = 'export.zip') => ({
  source: 'baserow-export' as const,
  credentials: {
    uploadId: await uploadFile(app, owner, name, new Uint8Array(zipSync(files))),
  },
})
const json = (value: unknown) => strToU8(JSON.stringify(value))

describe('an import of a Baserow export', () => {
  test('rejects files that are none, and archives with something else', async () => {
    const { baseImports } = app.trpc(owner.token)
    const text = await uploadFile(app, owner, 'x.zip', new TextEncoder().encode('a,b\n1,2\n'.repeat(200)))
    const broken = { source: 'baserow-export' as const, credentials: { uploadId: text } }
    await expect(baseImports.inspect.mutate({ from: broken })).rejects.toThrow('not the export')
    const other = await from({ 'readme.txt': strToU8('hello') })
    await expect(baseImports.inspect.mutate({ from: other })).rejects.toThrow('not the export')
    const cut = await from({ 'manifest.json': strToU8('{"applications":') })
    await expect(baseImports.inspect.mutate({ from: cut })).rejects.toThrow('not the export')
    const whole = await from({ 'manifest.json': json(manifest) })
    await expect(baseImports.begin.mutate(importFrom(whole, '6'))).rejects.toThrow('not the export')
    await expect(baseImports.begin.mutate(importFrom(whole, '7'))).rejects.toThrow('no table')
  })

  test('brings tables, options, links, files and views, computes formulas, and reports the rest', async () => {
    const { baseImports } = app.trpc(owner.token)
    const archive = await from({
      'manifest.json': json(manifest),
      'database__x_1.json': json(database),
      'hash1.txt': strToU8('hello'),
    })
    const bases = await baseImports.inspect.mutate({ from: archive })
    expect(bases).toEqual([
      { id: '5', title: 'Shop' },
      { id: '6', title: 'Lost' },
    ])
    const { id } = await baseImports.begin.mutate(importFrom(archive, '5'))
    const done = await settled(app, owner, id)
    expect(done).toMatchObject({ status: 'completed', error: null })
    const { rows, schema } = await recordsOf(app, owner, done.baseId!, 'Orders')
    const { Files, Customers, Names, ...first } = rows[0]!
    expect(first).toMatchObject({
      Ref: 'R1',
      Total: 12.5,
      Done: true,
      State: 'paid',
      Tags: 'open,paid',
      Team: owner.id,
      Took: 91_425,
      Made: '2023-10-25 19:04:55+00:00',
      'Changed by': owner.id,
      Twice: 25,
      Due: '2024-02-29',
    })
    expect(rows[1]).toMatchObject({ Ref: 'R2', Done: false, Total: null })
    expect(JSON.parse(String(Files))).toMatchObject([{ title: 'a.txt', size: 5 }])
    expect(JSON.parse(String(Names))).toEqual(['Ann', 'Bo'])
    expect(readLinks(Customers as string).records.map(({ title }) => title)).toEqual(['Ann', 'Bo'])
    const field = (title: string) => schema.fields.find((one) => one.title === title)!
    const open = schema.views.find(({ title }) => title === 'Open')
    expect(open).toMatchObject({
      filter: { children: [{ fieldId: field('State').id, operator: 'eq', value: 'open' }] },
      sorts: [{ fieldId: field('Total').id, direction: 'desc' }],
    })
    expect(open?.fields.find(({ fieldId }) => fieldId === field('Total').id)).toMatchObject({ width: 222 })
    const board = schema.views.find(({ title }) => title === 'Board')
    expect(board?.options).toMatchObject({ stackFieldId: field('State').id })
    expect(schema.fields.some(({ title }) => title === 'Row')).toBe(false)
    const lines = await baseImports.report.query({ importId: id })
    const reasonOf = (title: string) => lines.find(({ fieldTitle }) => fieldTitle === title)?.reason
    expect(reasonOf('Row')).toContain('no values')
    expect(reasonOf('Twice')).toContain('not compared')
    expect(lines.find(({ value }) => value === 'gone.txt')?.reason).toContain('not in the export')
    expect(lines.some(({ reason }) => reason.includes('neither comments'))).toBe(true)
  })
})
