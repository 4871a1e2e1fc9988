import type { RecordId } from '../ids.ts'
import { m } from '../messages.gen.ts'
import {
  type CellValue,
  defineFieldType,
  describeValue,
  type FieldType,
  type Read,
  readFail,
  readOk,
} from './field-type.ts'
import { isSingleLink, type LinkOptions, linkOptions } from './link-options.ts'
import { readLinkIds, readLinks, writeNameList } from './list-value.ts'

/** Maximum records in one value. Callers link more with several changes. */
const MAX_LINKED = 10_000

/** Shared definition of both link types; they differ only in what REST returns. */
export const linkType = <const N extends string>(
  words: Pick<FieldType<LinkOptions>, 'label' | 'help' | 'example' | 'linkAnswer'> & { name: N },
) =>
  defineFieldType<N, LinkOptions>({
    ...words,
    group: 'relation',
    storage: 'longText',
    options: linkOptions,
    filters: 'links',
    summaries: 'number',
    computed: 'link',
    read: readLinkedIds,
    parse: (text) => idsText(readLinkIds(text.length > MAX_LINKED * 40 ? 'too long' : text.trim())),
    format(value, options) {
      const names = readLinks(value).records.map(({ id, title }) => nameOf(id, title))
      // A single link's name needs no quotes, unless it is only whitespace, which would look empty.
      const [only = ''] = names
      return isSingleLink(options) && (only === '' || only.trim() !== '') ? only : writeNameList(names)
    },
  })

/** The display name of a record, or its id if the name is empty. */
const nameOf = (id: RecordId, title: CellValue): string => String(title === null || title === '' ? id : title)

/** Reads linked record ids as JSON text. Also accepts a link's cell value if it lists all of its records. */
function readLinkedIds(input: unknown): Read {
  const expected = () => readFail(m.value_error_record_ids({ value: describeValue(input) }))
  if (Array.isArray(input)) return isIds(input) ? readOk(idsText(input)) : expected()
  if (typeof input !== 'string' || input.length > MAX_LINKED * 40) return expected()
  const ids = readLinkIds(input)
  if (ids !== null) return isIds(ids) ? readOk(idsText(ids)) : expected()
  const { count, records } = readLinks(input)
  if (count === 0 || count !== records.length) return expected()
  return readOk(idsText(records.map(({ id }) => id)))
}

const isIds = (list: unknown[]): list is (string | number)[] =>
  list.length <= MAX_LINKED &&
  list.every((id) =>
    typeof id === 'number' ? Number.isFinite(id) : typeof id === 'string' && id.isWellFormed(),
  )

const idsText = (ids: (string | number)[] | null): CellValue =>
  ids === null || ids.length === 0 ? null : JSON.stringify(ids)

export { type LinkOptions, linkOptions } from './link-options.ts'

/** Links to records of this or another table. REST returns the number of linked records. */
export const links = linkType({
  name: 'Links',
  label: m.field_type_links,
  help: m.field_type_links_help,
  example: 'Hobbit, LOTR',
  linkAnswer: 'count',
})

/** Like `links`, but REST returns the records. The single side of a link always has this type. */
export const linkToAnotherRecord = linkType({
  name: 'LinkToAnotherRecord',
  label: m.field_type_link_to_another_record,
  help: m.field_type_link_to_another_record_help,
  example: 'Tolkien',
  linkAnswer: 'records',
})
