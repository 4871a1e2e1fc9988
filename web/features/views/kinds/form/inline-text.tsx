import { type KeyboardEvent, useRef, useState } from 'react'
import styles from './builder.module.css'

/** A text with inline editing: a click starts it, Enter and blur save, Escape cancels. */
export function InlineText(props: {
  label: string
  value: string
  placeholder: string
  maxLength: number
  className?: string
  onCommit: (text: string) => void
}) {
  const { label, value, placeholder, maxLength, className, onCommit } = props
  const [text, setText] = useState(value)
  const [told, setTold] = useState(value)
  const isCancelled = useRef(false)
  if (told !== value) {
    setTold(value)
    setText(value)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing || (event.key !== 'Enter' && event.key !== 'Escape')) return
    event.preventDefault()
    event.stopPropagation()
    isCancelled.current = event.key === 'Escape'
    event.currentTarget.blur()
  }
  return (
    <textarea
      className={`${styles.inline} ${className ?? ''}`}
      rows={1}
      dir="auto"
      aria-label={label}
      placeholder={placeholder}
      maxLength={maxLength}
      value={text}
      onChange={(event) => setText(event.target.value.replace(/\n/g, ' '))}
      onKeyDown={onKeyDown}
      onBlur={() => {
        if (isCancelled.current) setText(value)
        else if (text.trim() !== value) onCommit(text.trim())
        isCancelled.current = false
      }}
    />
  )
}
