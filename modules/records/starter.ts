import type { UserActor } from '../../src/core/actor.ts'
import type { Values } from '../../src/core/changes.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { Starter } from '../auth/index.ts'
import { type BasesService, presentBase } from '../bases/index.ts'
import { type NewField, presentFull, type SchemaService } from '../schema/index.ts'
import type { RecordsService } from './service.ts'

interface Services {
  bases: BasesService
  schema: SchemaService
  records: RecordsService
}

const choices = (...titles: string[]) => ({ choices: titles.map((title) => ({ title })) })

/** One field of each kind that a person would choose, so that the first screen shows what there is. */
const FIELDS: NewField[] = [
  { title: 'Task', type: 'SingleLineText', isDisplay: true },
  { title: 'Status', type: 'SingleSelect', options: choices('To do', 'In progress', 'Done') },
  { title: 'Due', type: 'Date', options: {} },
  { title: 'Tags', type: 'MultiSelect', options: choices('Start here', 'Data', 'Team', 'API') },
  { title: 'Important', type: 'Rating', options: {} },
  { title: 'Checked', type: 'Checkbox', options: {} },
  { title: 'Notes', type: 'LongText', options: {} },
  { title: 'Hours', type: 'Decimal', options: { precision: 1 } },
  { title: 'People', type: 'Number', options: {} },
  { title: 'Budget', type: 'Currency', options: {} },
  { title: 'Progress', type: 'Percent', options: { bar: true } },
  { title: 'Meeting', type: 'DateTime', options: {} },
  { title: 'Contact', type: 'Email', options: {} },
  { title: 'Page', type: 'URL', options: {} },
  { title: 'Phone', type: 'PhoneNumber', options: {} },
  { title: 'Created', type: 'CreatedTime', options: {} },
  { title: 'Created by', type: 'CreatedBy', options: {} },
]

/** Days from today, in the stored form. */
const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)

const rows = (): Record<string, CellValue>[] => [
  {
    Task: 'Edit a cell',
    Status: 'In progress',
    Due: day(0),
    Tags: 'Start here',
    Important: 5,
    Notes:
      'Click a cell and type. Enter saves and goes down, Tab saves and goes on, Escape leaves it as it was.',
    Hours: 0.5,
    People: 1,
    Progress: 40,
  },
  {
    Task: 'Take it back',
    Status: 'To do',
    Due: day(1),
    Tags: 'Start here',
    Important: 4,
    Notes: 'Ctrl+Z undoes every step, also after you have closed the page. Ctrl+Shift+Z does it again.',
    Progress: 0,
  },
  {
    Task: 'Import a CSV file',
    Status: 'To do',
    Due: day(2),
    Tags: 'Data',
    Important: 4,
    Notes:
      'Drop it on this table or on the list at the side. You see the detected types before anything is written.',
    Hours: 1,
  },
  {
    Task: 'Paste from a spreadsheet',
    Status: 'To do',
    Due: day(3),
    Tags: 'Data,Start here',
    Important: 3,
    Notes: 'Copy cells in Excel or Google Sheets, select a cell here and press Ctrl+V.',
  },
  {
    Task: 'Plan the kick-off',
    Status: 'Done',
    Due: day(-3),
    Tags: 'Team',
    Important: 2,
    Checked: true,
    Hours: 2.5,
    People: 6,
    Budget: 1250,
    Progress: 100,
    Meeting: `${day(-3)} 09:30:00+00:00`,
    Contact: 'ada@example.com',
    Phone: '+1 555 010 9999',
  },
  {
    Task: 'Read the records from a program',
    Status: 'To do',
    Due: day(7),
    Tags: 'API',
    Important: 3,
    Notes: 'Make a token in your account and call /api/v2/tables/{tableId}/records with it.',
    Page: 'https://example.com/api',
  },
]

/**
 * What the very first user finds: a base with a table of sample tasks, which show the kinds of fields
 * and say what to try. Everything in it can be deleted.
 */
export function createStarter({ bases, schema, records }: Services): Starter {
  return async (owner: UserActor) => {
    const base = await bases.create(owner, { title: 'Getting started', meta: { iconColor: '#36BFFF' } })
    const { table, fields } = await schema.createTable(owner, base.id, { title: 'Tasks', fields: FIELDS })
    const idOf = new Map(fields.map((field) => [field.title, field.id]))
    const asValues = (row: Record<string, CellValue>): Values =>
      Object.fromEntries(Object.entries(row).map(([title, value]) => [idOf.get(title) ?? title, value]))
    await records.apply(owner, {
      baseId: base.id,
      operations: [
        { kind: 'insert', tableId: table.id, rows: rows().map((row) => ({ values: asValues(row) })) },
      ],
    })
    const row = await bases.require(base.id)
    const sources = (await bases.sourcesOf([base.id])).get(base.id) ?? []
    const tables = [await presentFull(schema, table.id)]
    return { baseId: base.id, createdProject: { ...presentBase(row, sources), tables } }
  }
}
