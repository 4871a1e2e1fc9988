import { ArrowUpRight, Check, Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { t } from '../i18n.ts'
import type { LinkLine } from './cell.ts'
import styles from './link-picker.module.css'

/** What a line of the picker offers: a record, one to be made, or the rest of those that are linked. */
export type OfferedLine =
  | { kind: 'record'; record: LinkLine; isLinked: boolean }
  | { kind: 'create'; title: string }
  | { kind: 'moreLinked' }

/** Tells lines apart while others come and go. */
export const lineKey = (line: OfferedLine): string =>
  line.kind === 'record' ? `${typeof line.record.id} ${line.record.id}` : line.kind

export interface LinkLineViewProps {
  id: string
  line: OfferedLine
  singular: string
  isHighlighted: boolean
  /** The first of those that can be linked, after some that are. */
  isParted: boolean
  onChoose: () => void
  /** Absent where records have no page that one may see. */
  onOpen?: (record: LinkLine) => void
}

/** One line of the picker. The input above keeps the focus. */
export function LinkLineView(props: LinkLineViewProps): ReactNode {
  const { id, line, isHighlighted, onChoose } = props
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys come through the input, which has the focus
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isHighlighted}
      aria-checked={line.kind === 'record' ? line.isLinked : undefined}
      className={styles.line}
      data-parted={props.isParted || undefined}
      data-testid={line.kind === 'record' ? (line.isLinked ? 'linked' : 'linkable') : line.kind}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
    >
      {line.kind === 'record' && <RecordLine {...props} line={line} />}
      {line.kind === 'create' && (
        <>
          <Plus size={14} aria-hidden className={styles.mark} />
          <span className={styles.words} dir="auto">
            {t('New {singular} “{title}”', { singular: props.singular, title: line.title })}
          </span>
        </>
      )}
      {line.kind === 'moreLinked' && (
        <>
          <span className={styles.mark} />
          <span className={`${styles.words} ${styles.details}`}>{t('Show more that are linked')}</span>
        </>
      )}
    </div>
  )
}

function RecordLine({
  line: { record, isLinked },
  onOpen,
}: Pick<LinkLineViewProps, 'onOpen'> & { line: Extract<OfferedLine, { kind: 'record' }> }): ReactNode {
  return (
    <>
      <span className={styles.mark}>{isLinked && <Check size={14} aria-hidden />}</span>
      <LinkWords record={record} />
      {onOpen && (
        <button
          type="button"
          tabIndex={-1}
          className={styles.open}
          aria-label={t('Open {title}', { title: record.name })}
          title={t('Open record')}
          onMouseDown={(event) => event.preventDefault()}
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
        {record.details.map((text, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: values stand in the order of their fields
          <span key={at}>
            {at > 0 && ' · '}
            <bdi>{text}</bdi>
          </span>
        ))}
      </small>
    )}
  </span>
)
