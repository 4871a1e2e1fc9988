import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'
import { direction } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { Button } from '../../ui/button.tsx'
import { ScrollRegion } from '../../ui/composite.tsx'
import type { Analysis } from './analysis.ts'
import { ColumnCard } from './column-card.tsx'
import styles from './column-cards.module.css'
import { type DraftColumn, displayColumn, importableFields } from './draft.ts'
import type { Draft } from './use-drafts.ts'

/** Width of a card with the gap after it; the style sheet has the same. */
const CARD_WIDTH = 196

interface ColumnCardsProps {
  draft: Draft
  analysis: Analysis
  onColumn: (index: number, patch: Partial<DraftColumn>) => void
  /** Takes a column, by its position in the file, as the display field. */
  onDisplay: (index: number) => void
  onTickAll: (isOn: boolean) => void
}

/** The columns of the file side by side, each with its first values. Only those in sight are drawn. */
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
  const fields = target.kind === 'append' ? importableFields(target.fields) : []
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
