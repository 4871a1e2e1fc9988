import { type KeyboardEvent, type ReactNode, type RefObject, useRef, useState } from 'react'
import { ControlGroup } from '../ui/composite.tsx'
import { useLayoutOnChange } from '../ui/effects.ts'
import { Popover } from '../ui/overlays.ts'
import styles from './editor.module.css'
import { useFocusAtEnd } from './text-input.tsx'

interface EditorPopoverProps {
  label: string
  /** The edited text, which the content starts with and updates. */
  draft: RefObject<string>
  /** Shown in the cell below the popover. */
  preview: ReactNode
  previewClassName?: string
  dir?: 'ltr'
  className?: string
  /** Handles keys of the text area that replaces the content while it loads. */
  onKeyDown?: (event: KeyboardEvent<HTMLTextAreaElement>) => void
  /** Handles keys in the popover before its controls. */
  onKeyDownCapture?: (event: KeyboardEvent) => void
  /** Takes the focus when it appears. */
  children: ReactNode
}

/**
 * An editor in a popover over its grid cell. Popovers load at the first input; until then, a text area in the
 * cell receives the keys, so that none is lost on slow networks.
 */
export function EditorPopover(props: EditorPopoverProps): ReactNode {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const [isOpen, setOpen] = useState(false)
  return (
    <span ref={setAnchor} className={props.previewClassName} dir={props.dir}>
      {isOpen ? (
        props.preview
      ) : (
        <LoadingInput label={props.label} draft={props.draft} onKeyDown={props.onKeyDown} />
      )}
      {anchor && (
        <Popover anchor={anchor} onClose={() => {}} focus="none" className={props.className}>
          <ControlGroup data-cell-popover onKeyDownCapture={props.onKeyDownCapture}>
            {props.children}
            <OnMount call={() => setOpen(true)} />
          </ControlGroup>
        </Popover>
      )}
    </span>
  )
}

function LoadingInput({
  label,
  draft,
  onKeyDown,
}: Pick<EditorPopoverProps, 'label' | 'draft' | 'onKeyDown'>) {
  const area = useRef<HTMLTextAreaElement>(null)
  useFocusAtEnd(area, true)
  return (
    <textarea
      ref={area}
      className={styles.input}
      dir="auto"
      rows={1}
      aria-label={label}
      aria-busy
      defaultValue={draft.current}
      onChange={(event) => {
        draft.current = event.target.value
      }}
      onKeyDown={onKeyDown}
    />
  )
}

function OnMount({ call }: { call: () => void }): null {
  useLayoutOnChange([], call)
  return null
}
