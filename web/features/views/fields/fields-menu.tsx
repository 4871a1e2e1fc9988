import { GripVertical, Plus } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import type { Field } from '../../../../src/core/model.ts'
import { CELLS } from '../../../cells/index.ts'
import { m } from '../../../messages.gen.ts'
import { Button } from '../../../ui/button.tsx'
import { SearchInput } from '../../../ui/search-input.tsx'
import { SortableList, useSortableItem } from '../../../ui/sortable.tsx'
import toolbar from '../controls/toolbar.module.css'
import { type ArrangedField, fieldsInOrder, moveFields } from '../state/arrange-fields.ts'
import type { ViewState } from '../state/view-state.ts'
import styles from './fields-menu.module.css'

export interface FieldsMenuProps {
  fields: readonly Field[]
  state: ViewState
  /** Opens the editor of a new field; absent if the user cannot add one. */
  onAddField?: () => void
}

/** Menu for the visibility and order of fields. */
export function FieldsMenu({ fields, state, onAddField }: FieldsMenuProps) {
  const [text, setText] = useState('')
  const { view, arrange } = state
  const all = fieldsInOrder(fields, view)
  const found = all.filter(({ field }) => field.title.toLowerCase().includes(text.trim().toLowerCase()))
  const isShown = ({ field, column }: ArrangedField) => column.show || field.isDisplay
  const setAll = (show: boolean) =>
    arrange(
      found
        .filter((one) => isShown(one) !== show && !one.field.isDisplay)
        .map(({ field }) => ({ fieldId: field.id, show })),
    )
  const move = (id: string, before: string | null) => arrange(moveFields(fields, view, [id], before))

  return (
    <div className={styles.menu}>
      <SearchInput label={m.views_find_a_field()} data-autofocus value={text} onSearch={setText} />
      <div className={styles.list}>
        <SortableList ids={all.map(({ field }) => field.id)} disabled={text !== ''} onMove={move}>
          {found.map((one) => (
            <FieldLine
              key={one.field.id}
              field={one.field}
              isShown={isShown(one)}
              onShow={(show) => arrange([{ fieldId: one.field.id, show }])}
              onMove={(by) => {
                const ids = all.map(({ field }) => field.id).filter((id) => id !== one.field.id)
                const at = all.indexOf(one) + by
                if (at >= 0 && at < all.length) move(one.field.id, ids[at] ?? null)
              }}
            />
          ))}
        </SortableList>
        {found.length === 0 && <p className={toolbar.hint}>{m.views_no_matching_fields()}</p>}
      </div>
      <div className={styles.foot}>
        <Button size="small" variant="ghost" onClick={() => setAll(true)} disabled={found.every(isShown)}>
          {m.views_show_all()}
        </Button>
        <Button
          size="small"
          variant="ghost"
          onClick={() => setAll(false)}
          disabled={!found.some((one) => isShown(one) && !one.field.isDisplay)}
        >
          {m.views_hide_all()}
        </Button>
        {onAddField && (
          <Button size="small" variant="ghost" icon={Plus} onClick={onAddField}>
            {m.common_add_field()}
          </Button>
        )}
      </div>
    </div>
  )
}

interface FieldLineProps {
  field: Field
  isShown: boolean
  onShow: (show: boolean) => void
  /** Moves the field up or down by keyboard. */
  onMove: (by: 1 | -1) => void
}

function FieldLine({ field, isShown, onShow, onMove }: FieldLineProps) {
  const { ref, style, listeners } = useSortableItem(field.id)
  const { Icon } = CELLS[field.type]

  function onKeyDown(event: KeyboardEvent) {
    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return
    event.preventDefault()
    onMove(event.key === 'ArrowUp' ? -1 : 1)
  }

  return (
    <div ref={ref} style={style} className={styles.item} data-testid="fields-menu-item">
      <span className={toolbar.grip} {...listeners} data-tip={m.views_drag_move_press_alt_arrow()}>
        <GripVertical size={14} aria-hidden />
      </span>
      <label className={styles.label}>
        <input
          type="checkbox"
          checked={isShown}
          disabled={field.isDisplay}
          onKeyDown={onKeyDown}
          onChange={(event) => onShow(event.target.checked)}
        />
        <span className={styles.icon}>
          <Icon size={14} aria-hidden />
        </span>
        <span className={styles.name} dir="auto" data-tip={field.title} data-tip-clipped>
          {field.title}
        </span>
      </label>
    </div>
  )
}
