import { Check } from 'lucide-react'
import {
  type KeyboardEvent,
  type ReactNode,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import type { SelectOptions } from '../../src/core/fields/choices.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { t } from '../i18n.ts'
import { Popover } from '../ui/popover.tsx'
import type { Draft, EditorProps } from './cell.ts'
import styles from './editor.module.css'
import { type OptionLine, optionLines } from './option-list.ts'
import { choiceOf, Pill } from './pill.tsx'
import { useFocusAtEnd } from './text-input.tsx'

interface OptionPickerProps extends EditorProps<SelectOptions> {
  selected: string[]
  several: boolean
  /** An option was chosen, or chosen once more. */
  onToggle(title: string): void
  /** What leaving with this text in the input means. */
  read(text: string, highlighted: OptionLine | undefined): Draft
  onRemoveLast?(): void
}

/**
 * The editor of both select types: an input that filters, over a list of the options. Follows the ARIA
 * combobox pattern: the focus stays in the input and points at the highlighted line.
 */
export function OptionPicker(props: OptionPickerProps): ReactNode {
  const { options, selected, several, variant, typed, createOption, ref } = props
  const [text, setText] = useState(typed ?? '')
  const [at, setAt] = useState(() => startAt(options.choices, selected, typed))
  const [busy, setBusy] = useState(false)
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const listId = useId()
  const lines = optionLines(options.choices, text, createOption !== undefined)
  const highlighted = lines[Math.min(at, lines.length - 1)]
  const movedByHand = useRef(false)

  useImperativeHandle(ref, () => ({
    read: () => {
      const now = input.current?.value ?? text
      // A line counts as chosen once one has typed or walked to it; opening a list chooses nothing.
      const isMeant = now !== '' || movedByHand.current
      const line = optionLines(options.choices, now, false)[now === text ? at : 0]
      return props.read(now, isMeant ? line : undefined)
    },
    focus: () => input.current?.focus(),
  }))
  useFocusAtEnd(input, props.autoFocus)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another line is highlighted
  useLayoutEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [at, text, anchor])

  const choose = async (line: OptionLine | undefined) => {
    if (!line) return
    const title = line.kind === 'option' ? line.choice.title : line.title
    if (line.kind === 'create') {
      setBusy(true)
      const made = await createOption?.(title).finally(() => setBusy(false))
      if (!made) return
    }
    setText('')
    props.onToggle(title)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const move = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key]
    if (move !== undefined) {
      event.preventDefault()
      setAt(Math.max(0, Math.min(lines.length - 1, Math.min(at, lines.length - 1) + move)))
    } else if (event.key === 'Enter' && !event.shiftKey && (several || highlighted?.kind === 'create')) {
      // In a list of several, Enter ticks; a second one without a choice to make leaves (the owner's Enter).
      if (text === '' && several && !movedByHand.current) return
      event.preventDefault()
      void choose(highlighted)
    } else if (event.key === 'Backspace' && text === '') props.onRemoveLast?.()
    if (move !== undefined) movedByHand.current = true
  }

  return (
    <div className={variant === 'grid' ? styles.picker : styles.recordPicker} ref={setAnchor}>
      {selected.map((title) => (
        <Pill
          key={title}
          title={title}
          choice={choiceOf(options.choices, title)}
          onRemove={() => props.onToggle(title)}
          removeLabel={t('Remove {title}', { title })}
        />
      ))}
      <input
        ref={input}
        id={props.id}
        role="combobox"
        className={styles.pickerInput}
        dir="auto"
        value={text}
        disabled={busy}
        placeholder={selected.length === 0 ? t('Find an option') : ''}
        autoComplete="off"
        aria-label={props.label}
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={highlighted ? `${listId}-${lines.indexOf(highlighted)}` : undefined}
        aria-invalid={props.invalid || undefined}
        aria-describedby={props.describedBy}
        onChange={(event) => {
          setText(event.target.value)
          setAt(0)
          movedByHand.current = false
        }}
        onKeyDown={onKeyDown}
      />
      {anchor && (
        <Popover anchor={anchor} onClose={() => {}} focus="none" className={styles.popover}>
          <div
            ref={list}
            id={listId}
            role="listbox"
            aria-label={props.label}
            data-cell-popover
            className={styles.options}
          >
            {lines.map((line, index) => (
              <Option
                key={line.kind === 'option' ? line.choice.id : 'create'}
                id={`${listId}-${index}`}
                line={line}
                isHighlighted={line === highlighted}
                isChosen={line.kind === 'option' && selected.includes(line.choice.title)}
                onChoose={() => void choose(line)}
              />
            ))}
            {lines.length === 0 && <div className={styles.noOption}>{t('No such option')}</div>}
          </div>
        </Popover>
      )}
    </div>
  )
}

/** Nothing typed: the option that is chosen already, or none (-1); typed: the best match. */
function startAt(choices: SelectOptions['choices'], selected: string[], typed: string | null): number {
  if (typed) return 0
  return choices.findIndex(({ title }) => title === selected[0])
}

interface OptionProps {
  id: string
  line: OptionLine
  isHighlighted: boolean
  isChosen: boolean
  onChoose: () => void
}

function Option({ id, line, isHighlighted, isChosen, onChoose }: OptionProps): ReactNode {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys come through the input, which has the focus
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isHighlighted}
      aria-checked={isChosen}
      className={styles.option}
      data-testid={line.kind === 'create' ? 'create-option' : 'option'}
      // The input keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
    >
      {line.kind === 'option' ? (
        <Pill title={line.choice.title} choice={line.choice} />
      ) : (
        <span dir="auto">{t('Create “{title}”', { title: line.title })}</span>
      )}
      {isChosen && <Check size={14} aria-hidden className={styles.chosen} />}
    </div>
  )
}

/** The value of several titles: joined in the order of entry, or none. */
export const joinTitles = (titles: string[]): CellValue => titles.join(',') || null
