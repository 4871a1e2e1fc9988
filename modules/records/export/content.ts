import { breathe } from '../../../src/breathe.ts'
import { shownType } from '../../../src/core/fields/field.ts'
import { readList } from '../../../src/core/fields/list-value.ts'
import { idsIn } from '../../../src/core/fields/people.ts'
import { showsPeople } from '../../../src/core/fields/traits.ts'
import type { Field, Person } from '../../../src/core/model.ts'
import type { Query } from '../../../src/core/query.ts'
import type { Opened, Reader } from '../read/index.ts'
import { isKeyless } from '../table/index.ts'
import type { ExportPage } from './formats/index.ts'

/** Records of one page: small, so that others are answered in between. */
const PAGE = 500

/** What is written: which records, and who reads them. */
export interface ExportQuery
  extends Pick<Query, 'filter' | 'sorts' | 'search' | 'groups' | 'group' | 'timeZone' | 'recordIds'> {
  tableId: string
  viewId?: string
}

/**
 * The records of a query page by page. Their ids are read first, in order, and then the records of each page:
 * what is added meanwhile is not in it, and what is deleted is left out, but no record comes twice. Where
 * records have no key, pages are counted off.
 */
export async function* readPages(
  reader: Pick<Reader, 'ids' | 'page'>,
  opened: Opened,
  query: ExportQuery,
  fields: Field[],
  onPage: (done: number, total: number | null) => void,
): AsyncIterable<ExportPage> {
  if (isKeyless(opened.model)) {
    for (let offset = 0; ; offset += PAGE) {
      await breathe()
      const page = await reader.page(opened, { ...query, limit: PAGE, offset }, fields, 'all')
      if (page.ids.length > 0) yield page
      onPage(offset + page.ids.length, null)
      if (page.ids.length < PAGE) return
    }
  }
  const ids = await reader.ids(opened, query)
  for (let from = 0; from < ids.length; from += PAGE) {
    await breathe()
    const recordIds = ids.slice(from, from + PAGE)
    // Their order was settled with the ids; the filter holds for a record that was changed meanwhile as well.
    const { ids: found, rows } = await reader.page(
      opened,
      { ...query, sorts: [], groups: undefined, recordIds, limit: recordIds.length, offset: 0 },
      fields,
      'all',
    )
    const byId = new Map(found.map((id, at) => [id, rows[at] ?? []]))
    const there = recordIds.filter((id) => byId.has(id))
    yield { ids: there, rows: there.map((id) => byId.get(id) ?? []) }
    onPage(Math.min(ids.length, from + PAGE), ids.length)
  }
}

/** The same pages, with the people of their cells known before they are written: former members as well. */
export async function* withPeople(
  pages: AsyncIterable<ExportPage>,
  fields: Field[],
  known: Person[],
  read: (ids: string[]) => Promise<Person[]>,
): AsyncIterable<ExportPage> {
  const places = fields.flatMap((field, at) =>
    showsPeople({ type: shownType(field).type.name }) ? [at] : [],
  )
  const asked = new Set(known.map(({ id }) => id))
  for await (const page of pages) {
    const unknown = new Set<string>()
    for (const row of page.rows) {
      for (const at of places) {
        const field = fields[at]
        const value = row[at] ?? null
        const values = field && shownType(field).isList ? readList(value) : [value]
        for (const id of values.flatMap(idsIn)) if (!asked.has(id)) unknown.add(id)
      }
    }
    for (const id of unknown) asked.add(id)
    if (unknown.size > 0) known.push(...(await read([...unknown])))
    yield page
  }
}
