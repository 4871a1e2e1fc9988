import { Link, Link2, type LucideIcon } from 'lucide-react'
import { createContext, type ReactNode, useContext } from 'react'
import { shownType } from '../../src/core/fields/field.ts'
import type { CellValue, FieldType } from '../../src/core/fields/field-type.ts'
import type { LinkOptions } from '../../src/core/fields/link-options.ts'
import { formatName, namesOf, needsFormat } from '../../src/core/fields/linked-names.ts'
import { links, linkToAnotherRecord } from '../../src/core/fields/links.ts'
import type { LinkedRecord } from '../../src/core/fields/list-value.ts'
import type { Field } from '../../src/core/model.ts'
import { m } from '../messages.gen.ts'
import { type Cell, defineCell, lazyEditor, type ViewProps } from './cell.ts'
import { shownText } from './cell-text.ts'
import { HiddenCount } from './hidden-count.tsx'
import { linksIn, titleOf } from './link-value.ts'
import { usePeople } from './people-context.ts'
import { countFitting, Pill } from './pill.tsx'
import { BrokenField } from './text-view.tsx'
import styles from './view.module.css'

/** Linked records as chips with their titles, and "+n" for those that do not fit. */
const linksCell = (type: FieldType<LinkOptions>, Icon: LucideIcon): Cell<LinkOptions> =>
  defineCell<LinkOptions>(type, {
    Icon,
    align: 'start',
    minWidth: 80,
    extraWidth: 60,
    opensList: true,
    View: Chips,
    Editor: lazyEditor(() => import('./link-picker.tsx'), 'LinkPicker'),
    copyText: (value) => linksIn(value).records.map(titleOf).join(', '),
  })

function Chips(props: ViewProps<LinkOptions>): ReactNode {
  const { value, field } = props
  if (field.error !== null) return <BrokenField error={field.error} />
  const { count, records } = linksIn(value)
  if (count === 0) return null
  // Text titles need no formatting; other types follow the related table's display field.
  return records.some(({ title }) => needsFormat(title)) ? (
    <FormattedChips {...props} />
  ) : (
    <ChipList {...props} nameOf={titleOf} />
  )
}

function FormattedChips(props: ViewProps<LinkOptions>): ReactNode {
  const nameOf = useLinkedNames(props.field, props.options.relatedTableId)
  return <ChipList {...props} nameOf={nameOf} />
}

interface ChipListProps extends ViewProps<LinkOptions> {
  nameOf: (record: LinkedRecord) => string
}

function ChipList({ value, width, lines, variant, nameOf }: ChipListProps): ReactNode {
  const { count, records } = linksIn(value)
  const titles = records.map(nameOf)
  const shown =
    width === null
      ? titles.length
      : countFitting(withHidden(titles, count), width, lines, { mayShrink: lines === 1 })
  const drawn = Math.min(shown, titles.length)
  return (
    <span className={styles.pills} data-variant={variant} data-wrap={lines > 1 || undefined} data-shrink>
      {titles.slice(0, drawn).map((title, index) => (
        <Pill key={records[index]?.id} title={title} choice={undefined} />
      ))}
      {drawn < count && (
        <HiddenCount count={count - drawn} title={hiddenNames(titles.slice(drawn), count - drawn)} />
      )}
    </span>
  )
}

/** Appends an empty title if the cell does not list all records, which forces a "+n". */
const withHidden = (titles: string[], count: number): string[] =>
  count > titles.length ? [...titles, ''] : titles

/** Known names of the records behind "+n". */
function hiddenNames(titles: string[], hidden: number): string {
  const rest = hidden - titles.length
  const lines = rest > 0 ? [...titles, m.cells_and_more({ count: rest })] : titles
  return lines.join('\n')
}

/** Links to several records. */
export const linkedRecordsCell = linksCell(links, Link2)

/** A link whose records REST returns. */
export const linkToAnotherRecordCell = linksCell(linkToAnotherRecord, Link)

/** Returns the display field of a table; undefined while unknown or not accessible. */
export type UseDisplayField = (tableId: string) => Field | undefined

const DisplayFieldContext = createContext<UseDisplayField>(() => undefined)

/** Provides the display fields of linked tables to cells. Its value must not change. */
export const DisplayFieldProvider = DisplayFieldContext.Provider

/**
 * Formats titles of linked records like cells of the display field. Visitors of a shared view cannot read the related
 * table; the link field carries the format.
 */
function useLinkedNames(field: Field, tableId: string): (record: LinkedRecord) => string {
  const useDisplayField = useContext(DisplayFieldContext)
  const display = useDisplayField(tableId)
  const names = namesOf(field)
  const people = usePeople()
  return (record) => {
    const { title } = record
    const formatted = formatName(names, title)
    if (formatted !== null) return formatted
    if (display === undefined || !isStored(display, title)) return titleOf(record)
    return shownText(display, title, people) || titleOf(record)
  }
}

/** False for a newly picked name, which is already formatted. */
function isStored(display: Field, title: CellValue): boolean {
  const { storage } = shownType(display).type
  if (storage === 'date' || storage === 'datetime') return needsFormat(title)
  return typeof title === 'number' || typeof title === 'boolean'
}
