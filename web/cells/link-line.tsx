import { ArrowUpRight, Check, Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { m } from '../messages.gen.ts'
import { keyed } from '../ui/keyed.ts'
import type { LinkLine, LinkTarget } from './cell.ts'
import type { ComboboxLine } from './combobox.tsx'
import styles from './link-picker.module.css'
import type { LinkLines } from './use-link-lines.ts'

/** What a line of the picker offers: a record, one to be made, or the rest of those that are linked. */
export type LinkOffer =
  | { kind: 'record'; record: LinkLine; isLinked: boolean }
  | { kind: 'create'; title: string }
  | { kind: 'moreLinked' }

/** A line of the picker. */
export interface OfferedLine extends ComboboxLine {
  offer: LinkOffer
}

/** The lines in their order: linked, more of those, those that can be linked, and one to be made of `title`. */
export function offeredLines(found: LinkLines, title: string, links: LinkTarget): OfferedLine[] {
  const offersFrom = (from: 'linked' | 'linkable'): LinkOffer[] =>
    found.lines
      .filter((line) => line.from === from)
      .map(({ record, isLinked }) => ({ kind: 'record', record, isLinked }))
  const offers: LinkOffer[] = [
    ...offersFrom('linked'),
    ...(found.hasMoreLinked ? [{ kind: 'moreLinked' } as const] : []),
    ...offersFrom('linkable'),
    ...(found.mayCreate && title !== '' ? [{ kind: 'create', title } as const] : []),
  ]
  return offers.map((offer, at) => ({ ...drawn(offer, links), isParted: at === found.parted }))
}

function drawn(offer: LinkOffer, { singular, open }: LinkTarget): OfferedLine {
  if (offer.kind === 'moreLinked') {
    const content = (
      <>
        <span className={styles.mark} />
        <span className={`${styles.words} ${styles.details}`}>{m.cells_show_more_linked_records()}</span>
      </>
    )
    return { key: offer.kind, testId: offer.kind, content, offer }
  }
  if (offer.kind === 'create') {
    const content = (
      <>
        <Plus size={14} aria-hidden className={styles.mark} />
        <span className={styles.words} dir="auto">
          {m.cells_new_singular_title({ singular, title: offer.title })}
        </span>
      </>
    )
    return { key: offer.kind, testId: offer.kind, content, offer }
  }
  const { record, isLinked } = offer
  return {
    key: `${typeof record.id} ${record.id}`,
    testId: isLinked ? 'linked' : 'linkable',
    isChosen: isLinked,
    content: <RecordLine record={record} isLinked={isLinked} onOpen={open} />,
    offer,
  }
}

interface RecordLineProps {
  record: LinkLine
  isLinked: boolean
  /** Absent where records have no page that one may see. */
  onOpen?: (record: LinkLine) => void
}

function RecordLine({ record, isLinked, onOpen }: RecordLineProps): ReactNode {
  return (
    <>
      <span className={styles.mark}>{isLinked && <Check size={14} aria-hidden />}</span>
      <LinkWords record={record} />
      {onOpen && (
        <button
          type="button"
          tabIndex={-1}
          className={styles.open}
          aria-label={m.cells_open_title({ title: record.name })}
          title={m.common_open_record()}
          onClick={(event) => {
            event.stopPropagation()
            onOpen(record)
          }}
        >
          <ArrowUpRight size={14} aria-hidden className="flip-in-rtl" />
        </button>
      )}
    </>
  )
}

/** A record's name, with a few of its other values under it. */
export const LinkWords = ({ record }: { record: LinkLine }): ReactNode => (
  <span className={styles.words}>
    <span className={styles.name} dir="auto" title={record.name.length > 40 ? record.name : undefined}>
      {record.name}
    </span>
    {record.details.length > 0 && (
      <small className={styles.details}>
        {keyed(record.details).map(({ key, item: text, at }) => (
          <span key={key}>
            {at > 0 && ' · '}
            <bdi>{text}</bdi>
          </span>
        ))}
      </small>
    )}
  </span>
)
