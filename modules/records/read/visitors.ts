import { type SQL, sql } from 'drizzle-orm'
import type { Actor, ShareActor } from '../../../src/core/actor.ts'
import { isComputed, shownType } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { readList } from '../../../src/core/fields/list-value.ts'
import { idsIn } from '../../../src/core/fields/people.ts'
import { showsPeople } from '../../../src/core/fields/traits.ts'
import type { Filter } from '../../../src/core/filters/index.ts'
import type { Field, Person } from '../../../src/core/model.ts'
import { collectsAnswers, filePathsOf } from '../../../src/core/views/index.ts'
import { m } from '../../../src/messages.gen.ts'
import { type AuthService, asPublicPerson, forbidden } from '../../auth/index.ts'
import type { ViewsService } from '../../views/index.ts'
import { fragmentsOf } from './expression/fragments.ts'
import { boundCondition, type Opened } from './plan.ts'
import type { Reader } from './read.ts'

/** Distinct cells of a people field that are read for names. */
const MAX_CELLS = 1_000

/** File paths checked by one statement. */
const CHUNK = 50

interface Deps {
  reader: Pick<Reader, 'open' | 'openForm'>
  auth: Pick<AuthService, 'people'>
  views: Pick<ViewsService, 'load'>
}

/** Limits the people and files that visitors of a view’s link learn about to those in the records they see. */
export function createVisitorReads({ reader, auth, views }: Deps) {
  /** The people in the records of the view, without addresses. */
  async function people(actor: ShareActor): Promise<Person[]> {
    const view = await viewOf(actor)
    if (collectsAnswers(view)) return []
    const opened = await reader.open(actor, view.tableId)
    const ids = new Set<string>()
    for (const field of opened.model.fields.filter(showsPeopleIn)) {
      for (const cell of await cellsOf(opened, field)) {
        const values = shownType(field).isList ? readList(cell) : [cell]
        for (const id of values.flatMap(idsIn)) ids.add(id)
      }
    }
    return (await auth.people([...ids])).map(asPublicPerson)
  }

  /** The distinct cells of a field in the records of the view. */
  async function cellsOf({ engine, context, model }: Opened, field: Field): Promise<CellValue[]> {
    const cell = fragmentsOf(context).of(field, 'cell')
    const bound = boundCondition(context)
    const rows = await engine.values(
      engine.dialect.render(
        sql`select distinct ${cell} from ${sql.identifier(model.table.tableName)}
          ${bound ? sql`where ${bound}` : sql``} limit ${sql.raw(String(MAX_CELLS))}`,
      ),
      { scan: true },
    )
    return rows.map(([value]) => (value ?? null) as CellValue)
  }

  /** The paths that are in cells that the view shows; for a form, those of its pictures. */
  async function files(actor: ShareActor, tableId: string, paths: readonly string[]): Promise<string[]> {
    const view = await viewOf(actor)
    if (collectsAnswers(view)) {
      const { view } = await reader.openForm(actor, tableId)
      const own = filePathsOf(view)
      return paths.filter((path) => own.includes(path))
    }
    const opened = await reader.open(actor, tableId)
    const fields = opened.model.fields.filter(
      (field) => field.error === null && shownType(field).type.holdsFiles === true,
    )
    if (fields.length === 0) return []
    const found: string[] = []
    for (let start = 0; start < paths.length; start += CHUNK) {
      found.push(...(await standing(opened, fields, paths.slice(start, start + CHUNK))))
    }
    return found
  }

  async function standing(
    { engine, context, model }: Opened,
    fields: Field[],
    paths: readonly string[],
  ): Promise<string[]> {
    const bound = boundCondition(context)
    const table = sql.identifier(model.table.tableName)
    const there = paths.map((path) => {
      const stands = sql.join(
        fields.map((field) => holds(context, field, path)),
        sql` or `,
      )
      const condition = bound ? sql`${bound} and (${stands})` : stands
      return sql`case when exists (select 1 from ${table} where ${condition}) then 1 else 0 end`
    })
    const [row = []] = await engine.values(engine.dialect.render(sql`select ${sql.join(there, sql`, `)}`), {
      scan: true,
    })
    return paths.filter((_, index) => Number(row[index]) === 1)
  }

  const viewOf = async ({ grant }: ShareActor) => {
    if (grant.kind !== 'view') throw forbidden(m.shares_error_not_allowed())
    return views.load(grant.viewId)
  }

  return { people, files }
}

/**
 * True for cells that refer to the file. Matches the JSON of the path, so that other text in the cell does not count.
 */
function holds(context: Opened['context'], field: Field, path: string): SQL {
  const fragments = fragmentsOf(context)
  const text = `"path":${JSON.stringify(path)}`
  const test = (value: SQL) => context.dialect.search(value, 'longText', text)
  return fragments.anyOf(field)?.(test) ?? test(fragments.of(field, 'cell'))
}

/**
 * Looks up people by id who appear in the records of a table, including former members. Ids that do not appear are
 * ignored, so that accounts cannot be enumerated. Visitors of a link also see people in lookups, as they have no list
 * of members.
 */
export function createFormerPeople(reader: Pick<Reader, 'open' | 'page'>, auth: Pick<AuthService, 'people'>) {
  return async function formerPeople(actor: Actor, tableId: string, ids: string[]): Promise<Person[]> {
    const opened = await reader.open(actor, tableId)
    const isVisitor = opened.context.visitor !== undefined
    const fields = opened.model.fields.filter((field) =>
      isVisitor ? showsPeopleIn(field) : showsPeople(field) && !isComputed(field),
    )
    if (fields.length === 0) return []
    const found: string[] = []
    for (const id of new Set(ids)) {
      const filter: Filter = {
        join: 'or',
        children: fields.map((field) => ({ fieldId: field.id, operator: 'anyof', value: [id] })),
      }
      const page = await reader.page(opened, { tableId, filter, limit: 1, offset: 0 }, [])
      if (page.ids.length > 0) found.push(id)
    }
    const people = await auth.people(found)
    return isVisitor ? people.map(asPublicPerson) : people
  }
}

/** True for a field that shows people, its own or looked up. */
const showsPeopleIn = (field: Field): boolean =>
  field.error === null && showsPeople({ type: shownType(field).type.name })
