import { FileUp, type LucideIcon } from 'lucide-react'
import { type DragEvent, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { ControlGroup } from '../../ui/composite.tsx'
import styles from './source-choice.module.css'

interface SourceButtonsProps<Id extends string> {
  /** Name of the group. */
  label: string
  sources: readonly { id: Id; label: string; icon?: LucideIcon }[]
  selected: NoInfer<Id>
  onSelect: (id: NoInfer<Id>) => void
}

/** The kinds of sources of an import, one of which is chosen. */
export function SourceButtons<Id extends string>(props: SourceButtonsProps<Id>) {
  const { label, sources, selected, onSelect } = props
  return (
    <fieldset className={styles.sources}>
      <legend className="visually-hidden">{label}</legend>
      {sources.map(({ id, label: text, icon: Icon }) => (
        <button key={id} type="button" aria-pressed={id === selected} onClick={() => onSelect(id)}>
          {Icon && <Icon size={15} />}
          {text}
        </button>
      ))}
    </fieldset>
  )
}

interface FileDropProps {
  /** Texts of the area, of its button and below. */
  label: string
  button: string
  hint: string
  /** Preferred file types; browsers let users pick others as well. */
  accept?: string
  multiple?: boolean
  isBusy?: boolean
  /** Gets at least one file. */
  onFiles: (files: File[]) => void
}

/** An area on which files are dropped, with a button that chooses them. */
export function FileDrop({ label, button, hint, accept, multiple, isBusy, onFiles }: FileDropProps) {
  const [isOver, setOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const take = (files: FileList | null) => {
    if (files && files.length > 0) onFiles([...files])
  }
  const over = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes('Files')) return
    event.preventDefault()
    setOver(true)
  }
  return (
    <ControlGroup
      className={styles.drop}
      data-over={isOver || undefined}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        take(event.dataTransfer.files)
      }}
    >
      <FileUp size={26} />
      <p>{label}</p>
      <Button variant="primary" busy={isBusy} data-autofocus onClick={() => input.current?.click()}>
        {button}
      </Button>
      <p className={styles.hint}>{hint}</p>
      <input
        ref={input}
        type="file"
        multiple={multiple}
        accept={accept}
        hidden
        aria-label={button}
        onChange={(event) => {
          take(event.target.files)
          event.target.value = ''
        }}
      />
    </ControlGroup>
  )
}
