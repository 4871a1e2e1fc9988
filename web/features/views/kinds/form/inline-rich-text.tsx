import { useRef, useState } from 'react'
import { RichText } from '../../../../rich-text/rich-text.tsx'
import { RichTextEditor } from '../../../../rich-text/rich-text-editor.tsx'
import { ControlGroup } from '../../../../ui/composite.tsx'
import styles from './builder.module.css'

/** A rich text that is edited where it stands. */
export function InlineRichText(props: {
  label: string
  value: string
  placeholder: string
  onCommit: (text: string) => void
}) {
  const { label, value, placeholder, onCommit } = props
  const [isEditing, setEditing] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const close = () => {
    setEditing(false)
    queueMicrotask(() => button.current?.focus())
  }
  if (isEditing) {
    return (
      <ControlGroup
        onBlur={({ currentTarget, relatedTarget }) => {
          if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setEditing(false)
        }}
      >
        <RichTextEditor
          label={label}
          value={value}
          placeholder={placeholder}
          autoFocus
          onCommit={onCommit}
          onCancel={close}
        />
      </ControlGroup>
    )
  }
  return (
    <button
      ref={button}
      type="button"
      className={styles.inlineRich}
      aria-label={`${label}: ${value || placeholder}`}
      onClick={() => setEditing(true)}
    >
      {value === '' ? <span className={styles.faint}>{placeholder}</span> : <RichText text={value} />}
    </button>
  )
}
