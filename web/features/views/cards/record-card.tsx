import { type CSSProperties, memo, type ReactNode, useMemo } from 'react'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import type { Field } from '../../../../src/core/model.ts'
import { CELLS, shownText } from '../../../cells/index.ts'
import { isEmptyList } from '../../../cells/link-value.ts'
import { usePeople } from '../../../cells/people-context.ts'
import { PressedRecordProvider } from '../../../cells/pressed-record.ts'
import type { GridRow } from '../../../grid/contract.ts'
import { m } from '../../../messages.gen.ts'
import { RecordMark } from '../../presence/others-at.tsx'
import type { RowColor } from '../coloring/row-colors.ts'
import { CardCover, picturesOf } from './card-cover.tsx'
import type { CardField, CardFields } from './card-fields.ts'
import { CARD_INSET, COVER_PX, linesPerField } from './card-layout.ts'
import styles from './record-card.module.css'

/** The record's colour from the view's colouring. */
export type CardColor = RowColor

export interface RecordCardProps {
  row: GridRow
  /** Result of `cardFields`; keep its identity while it is unchanged. */
  fields: CardFields
  /** Width in pixels, which determines how many options or people fit. */
  width: number
  /** The cover's attachment field; absent or null without a cover. */
  cover?: Field | null
  coverFit?: 'fit' | 'crop'
  /** Colours a bar at the inline start, or the whole background. */
  color?: CardColor | null
  /** It has the keyboard focus. */
  isActive?: boolean
  /** It is part of the selection. */
  isSelected?: boolean
  /** Omits empty fields, in layouts with cards of different heights. */
  hidesEmpty?: boolean
  /** Shown at the end of the title line, e.g. a menu button. */
  actions?: ReactNode
  /** Shown below the fields. */
  children?: ReactNode
}

/**
 * A record as a card: cover, title, fields. Presentational; the parent handles role, focus and clicks. Fills the given
 * height.
 */
export const RecordCard = memo(function RecordCard(props: RecordCardProps) {
  const { row, fields, width, cover = null, coverFit = 'fit', color = null, hidesEmpty = false } = props
  const coverValue = cover ? row.values(cover.id) : null
  const pictures = useMemo(() => (cover ? picturesOf(cover, coverValue) : []), [cover, coverValue])
  const shown = hidesEmpty
    ? fields.rest.filter(({ field }) => !isEmpty(field, row.values(field.id)))
    : fields.rest
  const spare = cover && pictures.length === 0 ? COVER_PX : 0
  const lines = linesPerField(shown.length, spare)
  const style: CSSProperties & { '--card-color'?: string } = color ? { '--card-color': color.color } : {}
  return (
    <div
      className={styles.card}
      data-testid="record-card"
      data-color={color ? (color.isBackground ? 'ground' : 'bar') : undefined}
      data-active={props.isActive || undefined}
      data-selected={props.isSelected || undefined}
      data-state={row.state}
      style={style}
    >
      {color && !color.isBackground && <span className={styles.bar} aria-hidden />}
      <RecordMark recordId={row.id} />
      {cover && pictures.length > 0 && (
        <CardCover pictures={pictures} tableId={cover.tableId} fit={coverFit} />
      )}
      <div className={styles.body}>
        <div className={styles.head}>
          <Title row={row} title={fields.title} />
          {props.actions}
        </div>
        <PressedRecordProvider value={row.state === 'new' ? null : row.id}>
          {shown.map((each) => (
            <CardLine
              key={each.field.id}
              {...each}
              value={row.values(each.field.id)}
              width={width - 2 * CARD_INSET - 2}
              lines={lines}
              failure={row.failedCells?.get(each.field.id)}
            />
          ))}
        </PressedRecordProvider>
        {props.children}
      </div>
      {row.message !== undefined && (
        <p className={styles.message} role="alert">
          {row.message}
        </p>
      )}
    </div>
  )
})

const isEmpty = (field: Field, value: CellValue): boolean =>
  field.error === null &&
  (isEmptyList(value) || value === false || (value === 0 && fieldType(field.type).initial === 0))

/** The formatted text of the display field. */
function Title({ row, title }: { row: GridRow; title: CardField | null }) {
  const people = usePeople()
  const text = title ? shownText(title.field, row.values(title.field.id), people) : ''
  return (
    <span className={styles.title} dir="auto" data-empty={text === '' || undefined} title={text || undefined}>
      {text || m.common_untitled()}
    </span>
  )
}

interface CardLineProps extends CardField {
  value: CellValue
  width: number
  lines: number
  /** Error of a rejected value. */
  failure: string | undefined
}

/** A field: type icon, title, and the value as in the grid. */
const CardLine = memo(function CardLine({ field, options, value, width, lines, failure }: CardLineProps) {
  const { Icon, View } = CELLS[field.type]
  // A rating without stars would look empty.
  const isNothing = isEmpty(field, value) && value !== false
  return (
    <div
      className={styles.field}
      data-field={field.id}
      data-failed={failure ? true : undefined}
      title={failure}
    >
      <span className={styles.label}>
        <Icon size={12} aria-hidden />
        <span dir="auto">{field.title}</span>
      </span>
      <span className={styles.value}>
        {isNothing ? (
          <span className={styles.nothing} aria-hidden>
            –
          </span>
        ) : (
          <View value={value} field={field} options={options} lines={lines} width={width} variant="grid" />
        )}
      </span>
    </div>
  )
})
