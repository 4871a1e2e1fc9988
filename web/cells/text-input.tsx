import {
  type HTMLInputTypeAttribute,
  type ReactNode,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import type { Draft, EditorProps } from './cell.ts'
import styles from './editor.module.css'

export interface TextInputProps extends EditorProps<never> {
  /** The value as text. Unchanged text is not parsed again, so that leaving without changes writes nothing. */
  initial: string
  /** Text shown without focus, e.g. `$1,200.00` for `1200`; by default the text itself. */
  resting?: string
  parse(text: string): Draft
  inputMode?: 'text' | 'decimal' | 'numeric' | 'email' | 'url' | 'tel'
  inputType?: HTMLInputTypeAttribute
  align?: 'start' | 'end'
  placeholder?: string
  /** Drawn after the input, e.g. a calendar; gets the text and a way to set it. */
  children?: (text: string, setText: (text: string) => void) => ReactNode
  /** Handles keys before the owner does. */
  onKeyDown?: (event: React.KeyboardEvent<HTMLInputElement>, setText: (text: string) => void) => void
}

/** The one-line editor of most types: parses text to a value or an error message. */
export function TextInput(props: Omit<TextInputProps, 'options'>): ReactNode {
  const { parse, typed, value, ref, variant, autoFocus } = props
  // An input drops line breaks, which would join the words around them.
  const initial = withLineFeeds(props.initial).replaceAll('\n', ' ')
  const input = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(typed ?? initial)
  const rests = props.resting !== undefined && text === initial
  useImperativeHandle(ref, () => ({
    read: () => {
      // Reads the element instead of the state, which may lag behind the last keystroke.
      const now = input.current?.value ?? text
      return now === initial ? { ok: true, value } : parse(now)
    },
    focus: () => input.current?.focus(),
  }))
  useFocusAtEnd(input, autoFocus)
  return (
    <>
      <input
        ref={input}
        id={props.id}
        className={variant === 'grid' ? styles.input : styles.recordInput}
        data-align={variant === 'grid' ? props.align : undefined}
        type={props.inputType ?? 'text'}
        inputMode={props.inputMode}
        dir="auto"
        value={text}
        data-rests={rests || undefined}
        placeholder={props.placeholder}
        autoComplete="off"
        spellCheck={props.inputMode === undefined || props.inputMode === 'text'}
        aria-label={props.label}
        aria-invalid={props.invalid || undefined}
        aria-describedby={props.describedBy}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={props.onKeyDown && ((event) => props.onKeyDown?.(event, setText))}
      />
      {rests && (
        // Drawn over the input: replacing the input's text on focus would lose the selection.
        <span className={styles.resting} dir="auto" aria-hidden>
          {props.resting}
        </span>
      )}
      {props.children?.(text, setText)}
    </>
  )
}

/** Focuses the input before the next event, so that no keystroke is lost, with the caret at the end. */
export function useFocusAtEnd(
  input: React.RefObject<HTMLInputElement | HTMLTextAreaElement | null>,
  autoFocus: boolean,
): void {
  useLayoutEffect(() => {
    const element = input.current
    if (!element || !autoFocus) return
    element.focus({ preventScroll: true })
    element.setSelectionRange(element.value.length, element.value.length)
  }, [input, autoFocus])
}

/** The text as a text area returns it (HTML, “API value”), to compare with what its user has left there. */
export const withLineFeeds = (text: string): string => text.replace(/\r\n?/g, '\n')

/**
 * Draft from the result of a type's `parse`: empty text is null; text that parses to null is rejected with the message.
 */
export function draftOf(text: string, value: string | number | boolean | null, message: string): Draft {
  if (text.trim() === '') return { ok: true, value: null }
  return value === null ? { ok: false, message } : { ok: true, value }
}
