import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef } from 'react'
import { type FieldTypeName, fieldType } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Analysis } from '../../../src/core/imports/analysis.ts'
import type { Field } from '../../../src/core/model.ts'
import { CELLS } from '../../cells/index.ts'
import { direction } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { Button } from '../../ui/button.tsx'
import { ScrollRegion } from '../../ui/composite.tsx'
import { keyed } from '../../ui/keyed.ts'
import styles from './column-cards.module.css'
import {
  countMisfits,
  type DraftColumn,
  type DraftTarget,
  decimalOf,
  displayColumn,
  IMPORTABLE_TYPES,
  isMisfit,
  targetFields,
} from './draft.ts'
import type { Draft } from './use-drafts.ts'

/** Width of a card plus its gap, as in column-cards.module.css. */
const CARD_WIDTH = 196

interface ColumnCardsProps {
  draft: Draft
  analysis: Analysis
  onColumn: (index: number, patch: Partial<DraftColumn>) => void
  /** Makes the column at this position in the file the display field. */
  onDisplay: (index: number) => void
  onTickAll: (isOn: boolean) => void
}

/** Columns of the file side by side with their first values; renders only visible ones. */
export function ColumnCards({ draft, analysis, onColumn, onDisplay, onTickAll }: ColumnCardsProps) {
  const { columns, target } = draft
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: columns.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => CARD_WIDTH,
    horizontal: true,
    overscan: 3,
    isRtl: direction() === 'rtl',
  })
  const on = columns.filter((column) => column.isOn).length
  const fields = targetFields(target)
  return (
    <section aria-label={m.imports_columns()}>
      <div className={styles.bar}>
        <span>{m.imports_importing_on_of_all_columns({ on, all: columns.length })}</span>
        {target.kind === 'new' && on > 0 && (
          <label className={styles.display}>
            {m.imports_display_field()}
            <select
              data-tip={m.imports_field_names_records_links_cards()}
              value={displayColumn(columns, analysis)?.index}
              onChange={(event) => onDisplay(Number(event.target.value))}
            >
              {columns
                .filter(({ isOn }) => isOn)
                .map(({ index, title }) => (
                  <option key={index} value={index}>
                    {title}
                  </option>
                ))}
            </select>
          </label>
        )}
        <Button size="small" variant="ghost" onClick={() => onTickAll(on < columns.length)}>
          {on < columns.length ? m.common_select_all() : m.imports_clear_all()}
        </Button>
      </div>
      {/* Focusable, so that the arrow keys scroll it. */}
      <ScrollRegion ref={scroller} className={styles.scroller} tabIndex={0}>
        <div className={styles.track} style={{ inlineSize: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const column = columns[index]
            if (!column) return null
            return (
              <div key={column.index} className={styles.place} style={{ insetInlineStart: start }}>
                <ColumnCard
                  column={column}
                  target={target}
                  fields={fields}
                  analysis={analysis}
                  onChange={(patch) => onColumn(column.index, patch)}
                />
              </div>
            )
          })}
        </div>
      </ScrollRegion>
    </section>
  )
}

/** Values shown per column. */
const SHOWN = 10

interface ColumnCardProps {
  column: DraftColumn
  target: DraftTarget
  /** Fields to map to, when appending to a table. */
  fields: Field[]
  analysis: Analysis
  onChange: (patch: Partial<DraftColumn>) => void
}

/** A column: included or not, title and type or target field, first values. */
function ColumnCard({ column, target, fields, analysis, onChange }: ColumnCardProps) {
  const detected = analysis.fields[column.index]
  const name = detected?.title ?? column.title
  const misfits = useMemo(() => countMisfits(analysis, column, target), [analysis, column, target])
  const values = analysis.rows.slice(0, SHOWN).map((row) => row[column.index] ?? '')
  const Icon = CELLS[column.type].Icon
  const field = fields.find(({ id }) => id === column.fieldId)
  const lostText =
    field && linkOf(field)
      ? m.imports_no_matching_record_more_one()
      : m.imports_invalid_value_cell_stays_empty()
  return (
    <fieldset className={styles.card} data-off={!column.isOn || undefined} aria-label={name}>
      <div className={styles.head}>
        <div className={styles.line}>
          <input
            type="checkbox"
            aria-label={m.imports_import_name({ name })}
            checked={column.isOn}
            disabled={target.kind === 'append' && column.fieldId === null}
            onChange={(event) => onChange({ isOn: event.target.checked })}
          />
          {target.kind === 'new' ? (
            <input
              className={styles.title}
              aria-label={m.imports_field_name()}
              aria-invalid={(column.isOn && column.title.trim() === '') || undefined}
              dir="auto"
              maxLength={255}
              value={column.title}
              disabled={!column.isOn}
              onChange={(event) => onChange({ title: event.target.value })}
            />
          ) : (
            <span className={styles.source} dir="auto" data-tip={name} data-tip-clipped>
              {name}
            </span>
          )}
        </div>
        {target.kind === 'new' ? (
          <label className={styles.line}>
            <Icon size={15} />
            <span className="visually-hidden">{m.imports_type_of_name({ name })}</span>
            <select
              className={styles.type}
              value={column.type}
              disabled={!column.isOn}
              onChange={(event) => onChange({ type: event.target.value as FieldTypeName })}
            >
              {IMPORTABLE_TYPES.map((type) => (
                <option key={type} value={type}>
                  {fieldType(type).label()}
                </option>
              ))}
            </select>
          </label>
        ) : (
          <select
            className={styles.type}
            aria-label={m.imports_field_for_name({ name })}
            value={column.fieldId ?? ''}
            onChange={(event) => {
              const fieldId = event.target.value || null
              onChange({ fieldId, isOn: fieldId !== null })
            }}
          >
            <option value="">{m.imports_dont_import()}</option>
            {fields.map((field) => (
              <option key={field.id} value={field.id}>
                {field.required ? `${field.title} *` : field.title}
              </option>
            ))}
          </select>
        )}
        <p className={styles.note} data-tone={misfits > 0 ? 'danger' : undefined}>
          {misfits > 0 ? m.imports_invalid_cells({ count: misfits }) : ' '}
        </p>
      </div>
      <ul className={styles.values}>
        {keyed(values).map(({ key, item: value }) => {
          const isLost = column.isOn && isMisfit(value, column, target, decimalOf(analysis, column))
          return (
            <li
              key={key}
              dir="auto"
              data-misfit={isLost || undefined}
              data-tip={isLost ? lostText : value.slice(0, 300)}
              data-tip-clipped={isLost ? undefined : ''}
            >
              {value.slice(0, 200)}
            </li>
          )
        })}
      </ul>
    </fieldset>
  )
}
