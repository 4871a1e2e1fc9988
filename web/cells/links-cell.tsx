import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import type { FieldType } from '../../src/core/fields/field-type.ts'
import type { LinkOptions } from '../../src/core/fields/link-options.ts'
import { wantsFormat } from '../../src/core/fields/linked-names.ts'
import type { LinkedRecord } from '../../src/core/fields/list-value.ts'
import { m } from '../messages.gen.ts'
import { BrokenField } from './broken-field.tsx'
import { type Cell, defineCell, type ViewProps } from './cell.ts'
import { countFitting } from './fit-pills.ts'
import { LinkPicker } from './link-picker.tsx'
import { linksIn, titleOf } from './link-value.ts'
import { useLinkedNames } from './linked-names.ts'
import { Pill } from './pill.tsx'
import styles from './view.module.css'

/** Linked records as chips with their titles, and "+n" for those that have no room. */
export const linksCell = (type: FieldType<LinkOptions>, Icon: LucideIcon): Cell<LinkOptions> =>
  defineCell<LinkOptions>(type, {
    Icon,
    align: 'start',
    minWidth: 80,
    extraWidth: 60,
    opensList: true,
    View: Chips,
    Editor: LinkPicker,
    copyText: (value) => linksIn(value).records.map(titleOf).join(', '),
  })

function Chips(props: ViewProps<LinkOptions>): ReactNode {
  const { value, field } = props
  if (field.error !== null) return <BrokenField error={field.error} />
  const { count, records } = linksIn(value)
  if (count === 0) return null
  // Text is what it is; of anything else the related table says how its cells look.
  return records.some(({ title }) => wantsFormat(title)) ? (
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
        <span className={styles.more} dir="ltr" title={hiddenNames(titles.slice(drawn), count - drawn)}>
          +{count - drawn}
        </span>
      )}
    </span>
  )
}

/** The titles, and one more where the cell does not name all: then there is a "+n" in any case. */
const withHidden = (titles: string[], count: number): string[] =>
  count > titles.length ? [...titles, ''] : titles

/** Names of the records behind "+n", as far as the cell knows them. */
function hiddenNames(titles: string[], hidden: number): string {
  const rest = hidden - titles.length
  const lines = rest > 0 ? [...titles, m.cells_and_more({ count: rest })] : titles
  return lines.join('\n')
}
