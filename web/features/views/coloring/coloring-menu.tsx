import { ArrowUp, Plus, X } from 'lucide-react'
import { useId, useRef, useState } from 'react'
import { CHOICE_COLORS, choiceColor } from '../../../../src/core/fields/choices.ts'
import { hasSingleChoice } from '../../../../src/core/fields/traits.ts'
import type { Field, Person } from '../../../../src/core/model.ts'
import type { RowColoring } from '../../../../src/core/views/index.ts'
import { m } from '../../../messages.gen.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import toolbar from '../controls/toolbar.module.css'
import { newCondition } from '../filter/filter-edit.ts'
import { FilterMenu } from '../filter/filter-menu.tsx'
import styles from './coloring-menu.module.css'

export interface ColoringMenuProps {
  /** Fields that conditions can be on, in the order of the view. */
  fields: readonly Field[]
  people: readonly Person[]
  coloring: RowColoring | null
  onChange: (coloring: RowColoring | null) => void
}

type Rule = Extract<RowColoring, { mode: 'filter' }>['rules'][number]
const MAX_RULES = 20 // core/views/coloring.ts

/** Menu for colouring a view's records by a single select or by conditions. */
export function ColoringMenu({ fields, people, coloring, onChange }: ColoringMenuProps) {
  const selects = fields.filter(hasSingleChoice)
  const name = useId()
  const [first] = selects
  const modes: { mode: RowColoring['mode'] | null; label: string; next: RowColoring | null }[] = [
    { mode: null, label: m.common_none(), next: null },
    {
      mode: 'select',
      label: m.views_by_select_field(),
      next: first ? { mode: 'select', fieldId: first.id, isBackground: false } : null,
    },
    { mode: 'filter', label: m.views_by_conditions(), next: firstRules(fields) },
  ]
  const mode = coloring?.mode ?? null
  return (
    <div className={styles.menu}>
      <fieldset className={styles.modes}>
        <legend className="visually-hidden">{m.views_colour_records()}</legend>
        {modes.map((one) => (
          <label key={one.label} className={styles.mode}>
            <input
              type="radio"
              name={name}
              checked={mode === one.mode}
              disabled={one.mode !== null && one.next === null}
              data-autofocus={mode === one.mode || undefined}
              onChange={() => onChange(one.next)}
            />
            {one.label}
          </label>
        ))}
      </fieldset>
      {!first && <p className={toolbar.hint}>{m.views_add_single_select_field_colour()}</p>}
      {coloring?.mode === 'select' && (
        <div className={styles.select}>
          <select
            className={toolbar.select}
            aria-label={m.common_field()}
            value={coloring.fieldId}
            onChange={(event) => onChange({ ...coloring, fieldId: event.target.value })}
          >
            {selects.map((field) => (
              <option key={field.id} value={field.id}>
                {field.title}
              </option>
            ))}
          </select>
          <Extent
            isBackground={coloring.isBackground}
            onChange={(isBackground) => onChange({ ...coloring, isBackground })}
          />
        </div>
      )}
      {coloring?.mode === 'filter' && (
        <Rules
          fields={fields}
          people={people}
          rules={coloring.rules}
          onChange={(rules) => onChange({ mode: 'filter', rules })}
        />
      )}
    </div>
  )
}

const firstRules = (fields: readonly Field[]): RowColoring | null => {
  const rule = newRule(fields, 0)
  return rule && { mode: 'filter', rules: [rule] }
}

function newRule([field]: readonly Field[], index: number): Rule | null {
  return field ? { color: choiceColor(index), isBackground: false, filter: newCondition(field) } : null
}

interface RulesProps extends Pick<ColoringMenuProps, 'fields' | 'people'> {
  rules: readonly Rule[]
  onChange: (rules: Rule[]) => void
}

/** Uses local state, because input into one rule may arrive after another was removed. */
function Rules({ fields, people, rules, onChange }: RulesProps) {
  const nextId = useRef(rules.length)
  const [list, setList] = useState(() => rules.map((rule, id) => ({ ...rule, id })))
  const latest = useRef(list)
  const change = (next: typeof list) => {
    latest.current = next
    setList(next)
    onChange(next.map(({ id: _, ...rule }) => rule))
  }
  const patch = (id: number, part: Partial<Rule>) => {
    if (latest.current.some((one) => one.id === id))
      change(latest.current.map((one) => (one.id === id ? { ...one, ...part } : one)))
  }
  const fresh = newRule(fields, list.length)
  return (
    <>
      <ol className={styles.rules}>
        {list.map((rule, index) => (
          <li key={rule.id} className={styles.rule} data-testid="color-rule">
            <div className={styles.head}>
              <Swatches color={rule.color} onChange={(color) => patch(rule.id, { color })} />
              <Extent
                isBackground={rule.isBackground}
                onChange={(isBackground) => patch(rule.id, { isBackground })}
              />
              {index > 0 && (
                <IconButton
                  icon={ArrowUp}
                  size="small"
                  label={m.views_move_up()}
                  onClick={() => change(list.toSpliced(index, 1).toSpliced(index - 1, 0, rule))}
                />
              )}
              <IconButton
                icon={X}
                size="small"
                label={m.views_remove_this_colour()}
                onClick={() => change(list.filter((one) => one !== rule))}
              />
            </div>
            <FilterMenu
              fields={fields}
              people={people}
              filter={rule.filter}
              isSaved={true}
              emptyHint={m.views_add_condition_apply_colour()}
              onChange={(filter) => patch(rule.id, { filter: filter ?? { join: 'and', children: [] } })}
            />
          </li>
        ))}
      </ol>
      {list.length > 1 && <p className={toolbar.hint}>{m.views_the_first_matching_condition_applies()}</p>}
      {list.length < MAX_RULES && fresh && (
        <div className={toolbar.actions}>
          <Button
            size="small"
            variant="ghost"
            icon={Plus}
            onClick={() => change([...list, { ...fresh, id: nextId.current++ }])}
          >
            {m.views_add_colour()}
          </Button>
        </div>
      )}
    </>
  )
}

/** Bar or whole row. */
function Extent({
  isBackground,
  onChange,
}: {
  isBackground: boolean
  onChange: (isBackground: boolean) => void
}) {
  return (
    <select
      className={toolbar.select}
      aria-label={m.views_apply_colour_to()}
      value={isBackground ? 'all' : 'bar'}
      onChange={(event) => onChange(event.target.value === 'all')}
    >
      <option value="bar">{m.views_edge_of_the_record()}</option>
      <option value="all">{m.views_whole_record()}</option>
    </select>
  )
}

function Swatches({ color, onChange }: { color: string; onChange: (color: string) => void }) {
  const name = useId()
  const known: readonly string[] = CHOICE_COLORS
  const all = known.includes(color.toLowerCase()) ? known : [...known, color]
  return (
    <fieldset className={styles.swatches}>
      <legend className="visually-hidden">{m.common_colour()}</legend>
      {all.map((one, index) => (
        <label key={one} className={styles.swatch} style={{ background: one }}>
          <input
            type="radio"
            name={name}
            aria-label={m.common_colour_number({ n: index + 1 })}
            checked={one === color.toLowerCase() || one === color}
            onChange={() => onChange(one)}
          />
        </label>
      ))}
    </fieldset>
  )
}
