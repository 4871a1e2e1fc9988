import { type SQL, sql } from 'drizzle-orm'
import type { ShareActor } from '../../../src/core/actor.ts'
import { shownType } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { readList } from '../../../src/core/fields/list-value.ts'
import { idsIn } from '../../../src/core/fields/people.ts'
import type { Field, Person } from '../../../src/core/model.ts'
import { collectsAnswers, filePathsOf } from '../../../src/core/views/index.ts'
import { type AuthService, asPublicPerson, forbidden } from '../../auth/index.ts'
import type { ViewsService } from '../../views/index.ts'
import { fragmentsOf } from './expression/fragments.ts'
import { showsPeopleIn } from './former-people.ts'
import { boundCondition, type Opened } from './plan.ts'
import type { Reader } from './read.ts'

/** Most different cells of people that are looked at for their names. */
const MAX_CELLS = 1_000

/** Files that one statement asks for. */
const CHUNK = 50

interface Deps {
  reader: Pick<Reader, 'open' | 'openForm'>
  auth: Pick<AuthService, 'people'>
  views: Pick<ViewsService, 'load'>
}

/** What visitors of a link to a view are told of people and files: of those in what they see, and of no other. */
export function createVisitorReads({ reader, auth, views }: Deps) {
  /** The people who stand in the records of the view, by name alone. */
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

  /** The different cells of a field in the records of the view. */
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

  /** Those of the paths that stand in cells that the view shows; of a form its pictures. */
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
    if (grant.kind !== 'view') throw forbidden('This link doesn’t allow that')
    return views.load(grant.viewId)
  }

  return { people, files }
}

/** True for cells that name the file: as JSON has it, so that no other text in the cell passes for a path. */
function holds(context: Opened['context'], field: Field, path: string): SQL {
  const fragments = fragmentsOf(context)
  const text = `"path":${JSON.stringify(path)}`
  const test = (value: SQL) => context.dialect.search(value, 'longText', text)
  return fragments.anyOf(field)?.(test) ?? test(fragments.of(field, 'cell'))
}
