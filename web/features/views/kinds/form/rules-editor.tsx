import { Plus, X } from 'lucide-react'
import { useId, useRef, useState } from 'react'
import { FILE_KINDS } from '../../../../../src/core/fields/attachment-kinds.ts'
import type { Field } from '../../../../../src/core/model.ts'
import { type FormRuleType, findRule, rulesFor } from '../../../../../src/core/views/form-rules.ts'
import type { FormRule } from '../../../../../src/core/views/index.ts'
import { m } from '../../../../messages.gen.ts'
import { Button, IconButton } from '../../../../ui/button.tsx'
import { openMenu } from '../../../../ui/menu.tsx'
import { Tick } from '../../../schema/options/controls.tsx'
import toolbar from '../../controls/toolbar.module.css'
import { DayInput } from '../../filter/day-input.tsx'
import styles from './builder.module.css'

/** Editor for a question's validation rules. Rules without their value stay local. */
export function RulesEditor({
  field,
  rules,
  onChange,
}: {
  field: Field
  rules: readonly FormRule[]
  onChange: (rules: FormRule[]) => void
}) {
  const [drafts, setDrafts] = useState<FormRule[]>(() => [...rules])
  const sent = useRef<readonly FormRule[]>(rules)
  // Takes over changes from outside, such as undo.
  if (sent.current !== rules && JSON.stringify(sent.current) !== JSON.stringify(rules)) {
    sent.current = rules
    setDrafts([...rules])
  }
  const offered = rulesFor(field).filter(({ key }) => !drafts.some(({ rule }) => rule === key))
  const set = (next: FormRule[]) => {
    setDrafts(next)
    const whole = next.filter(({ rule, value }) => findRule(rule)?.problem(value) === null)
    if (JSON.stringify(whole) === JSON.stringify(sent.current)) return
    sent.current = whole
    onChange(whole)
  }
  const replace = (at: number, rule: FormRule) => set(drafts.with(at, rule))
  if (rulesFor(field).length === 0) {
    return <p className={styles.note}>{m.form_no_validation_rules_field_type()}</p>
  }
  return (
    <>
      {drafts.map((draft, at) => {
        const type = findRule(draft.rule)
        return (
          type && (
            <RuleLine
              key={draft.rule}
              field={field}
              type={type}
              draft={draft}
              onChange={(rule) => replace(at, rule)}
              onRemove={() => set(drafts.toSpliced(at, 1))}
            />
          )
        )
      })}
      {offered.length > 0 && (
        <Button
          size="small"
          variant="ghost"
          icon={Plus}
          aria-haspopup="menu"
          onClick={(event) =>
            openMenu(
              event.currentTarget,
              offered.map((type) => ({
                kind: 'action',
                label: type.label(),
                run: () => set([...drafts, { rule: type.key, value: null, message: null }]),
              })),
              m.form_add_rule(),
            )
          }
        >
          {m.form_add_rule()}
        </Button>
      )}
    </>
  )
}

interface RuleLineProps {
  field: Field
  type: FormRuleType
  draft: FormRule
  onChange: (rule: FormRule) => void
  onRemove: () => void
}

function RuleLine({ field, type, draft, onChange, onRemove }: RuleLineProps) {
  const id = useId()
  const problem = draft.value === null && type.input !== 'none' ? null : type.problem(draft.value)
  return (
    <div className={styles.rule} data-testid="form-rule">
      <div className={styles.row}>
        <label htmlFor={id} className={styles.ruleName}>
          {type.label()}
        </label>
        <RuleValue id={id} field={field} type={type} draft={draft} onChange={onChange} />
        <IconButton
          icon={X}
          size="small"
          label={m.form_remove_rule_rule({ rule: type.label() })}
          onClick={onRemove}
        />
      </div>
      {problem && (
        <p className={styles.problem} role="alert">
          {problem}
        </p>
      )}
      <input
        className={toolbar.input}
        dir="auto"
        maxLength={500}
        aria-label={m.form_custom_error_message()}
        placeholder={m.form_custom_error_message()}
        defaultValue={draft.message ?? ''}
        onBlur={(event) => {
          const message = event.target.value.trim() || null
          if (message !== draft.message) onChange({ ...draft, message })
        }}
      />
    </div>
  )
}

function RuleValue({ id, field, type, draft, onChange }: Omit<RuleLineProps, 'onRemove'> & { id: string }) {
  const set = (value: FormRule['value']) => onChange({ ...draft, value })
  const text = draft.value === null ? '' : String(draft.value)
  switch (type.input) {
    case 'none':
      return <span id={id} />
    case 'kinds': {
      const chosen = text.split(',').filter(Boolean)
      return (
        <div className={styles.limited}>
          {FILE_KINDS.map(({ key, label }) => (
            <Tick
              key={key}
              label={label()}
              checked={chosen.includes(key)}
              onChange={(isOn) => {
                const next = FILE_KINDS.map((kind) => kind.key).filter((one) =>
                  one === key ? isOn : chosen.includes(one),
                )
                set(next.join(',') || null)
              }}
            />
          ))}
        </div>
      )
    }
    case 'day':
      return <DayValue id={id} field={field} text={text} onChange={set} />
    case 'count':
    case 'number':
      return (
        <input
          id={id}
          type="number"
          className={`${toolbar.input} ${styles.ruleValue}`}
          min={type.input === 'count' ? 0 : undefined}
          step={type.input === 'count' ? 1 : 'any'}
          defaultValue={text}
          onChange={(event) => {
            const number = event.target.valueAsNumber
            set(Number.isFinite(number) ? number : null)
          }}
        />
      )
    default:
      return (
        <input
          id={id}
          type={type.input === 'time' ? 'time' : 'text'}
          className={`${toolbar.input} ${styles.ruleValue}`}
          dir="auto"
          maxLength={1000}
          defaultValue={text}
          onBlur={(event) => {
            const next = event.target.value || null
            if (next !== draft.value) set(next)
          }}
        />
      )
  }
}

/** A fixed date, or the day of the submission. */
function DayValue({
  id,
  field,
  text,
  onChange,
}: {
  id: string
  field: Field
  text: string
  onChange: (value: string | null) => void
}) {
  const isToday = text === 'today'
  return (
    <span className={styles.row}>
      <select
        id={id}
        className={toolbar.select}
        value={isToday ? 'today' : 'day'}
        onChange={(event) => onChange(event.target.value === 'today' ? 'today' : null)}
      >
        <option value="day">{m.form_specific_date()}</option>
        <option value="today">{m.form_submission_date()}</option>
      </select>
      {!isToday && <DayInput field={field} day={text === '' ? null : text} onChange={onChange} />}
    </span>
  )
}
