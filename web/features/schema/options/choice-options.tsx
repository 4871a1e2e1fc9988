import { GripVertical, Plus, Trash2 } from 'lucide-react'
import { type KeyboardEvent, useRef } from 'react'
import { flushSync } from 'react-dom'
import { CHOICE_COLORS, type Choice, choiceColor } from '../../../../src/core/fields/choices.ts'
import { createId } from '../../../../src/core/ids.ts'
import { m } from '../../../messages.gen.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { moveBefore, SortableList, useSortableItem } from '../../../ui/sortable.tsx'
import toolbar from '../../views/controls/toolbar.module.css'
import editor from '../field-editor.module.css'
import { ColorPicker, type OptionsProps } from './controls.tsx'
import styles from './options.module.css'

/** The options of a select field: name, colour, order. */
export function ChoiceOptions({ options, onChange }: OptionsProps) {
  const choices = Array.isArray(options.choices) ? (options.choices as Choice[]) : []
  const list = useRef<HTMLDivElement>(null)
  const set = (next: Choice[]) => onChange({ ...options, choices: next })
  /** Changes the options and moves the focus to one of them, at once: the next key may follow on its heels. */
  function setAndFocus(next: Choice[], index: number) {
    flushSync(() => set(next))
    list.current?.querySelectorAll<HTMLInputElement>('input')[index]?.focus()
  }

  function addAfter(index: number) {
    const made = { id: createId('option'), title: '', color: choiceColor(choices.length) }
    setAndFocus(choices.toSpliced(index + 1, 0, made), index + 1)
  }

  const remove = (index: number) => setAndFocus(choices.toSpliced(index, 1), Math.max(0, index - 1))

  function onKeyDown(event: KeyboardEvent, index: number) {
    const move = event.altKey ? (event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0) : 0
    const choice = choices[index]
    if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) {
      event.preventDefault()
      addAfter(index)
    } else if (move !== 0 && choice && choices[index + move]) {
      event.preventDefault()
      setAndFocus(choices.toSpliced(index, 1).toSpliced(index + move, 0, choice), index + move)
    } else if (event.key === 'Backspace' && choice?.title === '') {
      event.preventDefault()
      remove(index)
    }
  }

  return (
    <div className={editor.part}>
      <div ref={list} className={styles.choices}>
        <SortableList
          ids={choices.map((choice) => choice.id)}
          onMove={(id, before) => set(moveBefore(choices, id, before))}
        >
          {choices.map((choice, index) => (
            <ChoiceLine
              key={choice.id}
              choice={choice}
              onChange={(changed) => set(choices.toSpliced(index, 1, changed))}
              onRemove={() => remove(index)}
              onKeyDown={(event) => onKeyDown(event, index)}
            />
          ))}
        </SortableList>
      </div>
      <Button
        size="small"
        variant="ghost"
        icon={Plus}
        className={styles.add}
        onClick={() => addAfter(choices.length - 1)}
      >
        {m.schema_add_option()}
      </Button>
    </div>
  )
}

interface ChoiceLineProps {
  choice: Choice
  onChange: (choice: Choice) => void
  onRemove: () => void
  onKeyDown: (event: KeyboardEvent) => void
}

function ChoiceLine({ choice, onChange, onRemove, onKeyDown }: ChoiceLineProps) {
  const { ref, style, listeners } = useSortableItem(choice.id)
  return (
    <div ref={ref} style={style} className={styles.choice} data-testid="choice-line">
      <span className={toolbar.grip} {...listeners} data-tip={m.schema_drag_move_press_alt_arrow()}>
        <GripVertical size={14} aria-hidden />
      </span>
      <ColorPicker
        colors={CHOICE_COLORS}
        value={choice.color}
        label={m.schema_colour_of_option({ option: choice.title || m.schema_the_option() })}
        onChange={(color) => onChange({ ...choice, color })}
      />
      <input
        className={`${toolbar.input} ${styles.control}`}
        aria-label={m.schema_option_name()}
        placeholder={m.schema_option()}
        dir="auto"
        value={choice.title}
        onChange={(event) => onChange({ ...choice, title: event.target.value })}
        onKeyDown={onKeyDown}
      />
      <IconButton
        icon={Trash2}
        size="small"
        iconSize={14}
        label={m.schema_remove_option()}
        onClick={onRemove}
      />
    </div>
  )
}
