import type { UserActor } from '../../../src/core/actor.ts'
import type { Values } from '../../../src/core/changes.ts'
import type { CellValue, FieldOptions } from '../../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../../src/core/fields/index.ts'
import type { RecordId, TableSchema } from '../../../src/core/model.ts'
import type { Starter } from '../../auth/index.ts'
import type { BasesService } from '../../bases/index.ts'
import type { SchemaService } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import type { RecordsService } from '../service.ts'
import { STARTER_FIELDS, starterPeople, starterProjects, starterTasks } from './content.ts'

interface Services {
  bases: BasesService
  schema: SchemaService
  records: RecordsService
  views: Pick<ViewsService, 'create'>
}

type Row = Record<string, CellValue | undefined>

/**
 * Creates the first user’s base: linked tables of tasks, projects and people that show the field and view types and
 * suggest what to try. Everything in it can be deleted, and one undo removes all of it.
 */
export function createStarter({ bases, schema, records, views }: Services): Starter {
  return async (owner: UserActor) => {
    const base = await bases.create(owner, { title: 'Getting started', meta: { iconColor: '#36BFFF' } })
    const actor: UserActor = { ...owner, actionId: crypto.randomUUID() }
    const create = (title: string, fields: keyof typeof STARTER_FIELDS) =>
      schema.createTable(actor, base.id, { title, fields: STARTER_FIELDS[fields] })
    const tables = {
      tasks: await create('Tasks', 'tasks'),
      projects: await create('Projects', 'projects'),
      people: await create('People', 'people'),
    }
    await addComputed(schema, actor, tables)
    await addViews(views, actor, tables)
    await fill(schema, records, actor, base.id, tables)
    return { baseId: base.id, tableIds: Object.values(tables).map(({ table }) => table.id) }
  }
}

type Tables = Record<keyof typeof STARTER_FIELDS, TableSchema>

/** One view of each kind; what they show follows from the fields. */
async function addViews(
  views: Services['views'],
  actor: UserActor,
  { tasks, people }: Tables,
): Promise<void> {
  const kinds = [
    [tasks, 'kanban', 'Board'],
    [tasks, 'calendar', 'Calendar'],
    [tasks, 'form', 'New task'],
    [people, 'gallery', 'Cards'],
    [people, 'map', 'Map'],
  ] as const
  for (const [{ table }, kind, title] of kinds) await views.create(actor, table.id, { title, kind })
}

/** Links between the tables, and lookups, rollups and formulas over them. */
async function addComputed(schema: SchemaService, actor: UserActor, tables: Tables): Promise<void> {
  const { tasks, projects, people } = tables
  const fieldOf = (table: TableSchema, title: string): string => idsByTitle(table).get(title) ?? title
  const add = (
    table: TableSchema,
    type: FieldTypeName,
    title: string,
    options: FieldOptions,
    before?: string,
  ) =>
    schema.createField(
      actor,
      table.table.id,
      { type, title, options },
      before === undefined ? {} : { viewId: table.views[0]?.id, beforeFieldId: fieldOf(table, before) },
    )
  const project = await add(
    tasks,
    'LinkToAnotherRecord',
    'Project',
    { kind: 'bt', relatedTableId: projects.table.id },
    'Tags',
  )
  const members = await add(tasks, 'Links', 'People', { kind: 'mm', relatedTableId: people.table.id }, 'Tags')
  await add(tasks, 'Lookup', 'Stage', {
    relationFieldId: project.id,
    targetFieldId: fieldOf(projects, 'Stage'),
  })
  await add(tasks, 'Barcode', 'Label', { valueFieldId: fieldOf(tasks, 'No') })
  await add(tasks, 'Count', 'Helpers', { relationFieldId: members.id })

  const relationFieldId = String(project.options.inverseFieldId)
  const over = (title: string) => ({ relationFieldId, targetFieldId: fieldOf(tasks, title) })
  const hours = await add(projects, 'Rollup', 'Hours', { ...over('Hours'), function: 'sum', precision: 1 })
  await add(projects, 'Rollup', 'Progress', { ...over('Progress'), function: 'avg', precision: 0 })
  await add(projects, 'Formula', 'Per hour', {
    formula: `ROUND({{${fieldOf(projects, 'Budget')}}} / {{${hours.id}}}, 2)`,
  })

  await add(people, 'Button', 'Map', {
    label: 'Map',
    formula: `CONCAT("https://www.openstreetmap.org/search?query=", {{${fieldOf(people, 'City')}}})`,
  })
  await add(people, 'QrCode', 'Card', { valueFieldId: fieldOf(people, 'Email') })
}

/** Inserts the sample records, linked ones first. */
async function fill(
  schema: SchemaService,
  records: RecordsService,
  actor: UserActor,
  baseId: string,
  tables: Tables,
): Promise<void> {
  const insert = async (table: TableSchema, rows: Row[]): Promise<RecordId[]> => {
    const { fields } = await schema.load(table.table.id)
    const ids = idsByTitle({ fields })
    const values = rows.map((row) => ({
      values: Object.fromEntries(
        Object.entries(row).map(([title, value]) => [ids.get(title) ?? title, value ?? null]),
      ) satisfies Values,
    }))
    const operations = [{ kind: 'insert' as const, tableId: table.table.id, rows: values }]
    return (await records.apply(actor, { baseId, operations })).inserted
  }
  const projects = await insert(tables.projects, starterProjects())
  const people = await insert(tables.people, starterPeople())
  const linked = (ids: RecordId[], places: number[]): CellValue =>
    JSON.stringify(places.flatMap((place) => ids[place] ?? []))
  await insert(
    tables.tasks,
    starterTasks().map(({ Project, People, ...task }) => ({
      ...task,
      Project: linked(projects, [Project]),
      People: linked(people, People),
    })),
  )
}

const idsByTitle = ({ fields }: Pick<TableSchema, 'fields'>): ReadonlyMap<string, string> =>
  new Map(fields.map((field) => [field.title, field.id]))
