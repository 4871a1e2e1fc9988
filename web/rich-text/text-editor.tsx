import { ToolbarItem, ToolbarProvider, Toolbar as ToolbarRow } from '@ariakit/react'
import { Slice } from '@tiptap/pm/model'
import { type ChainedCommands, type Editor, EditorContent, useEditor, useEditorState } from '@tiptap/react'
import {
  Bold,
  Code,
  Heading1,
  Heading2,
  Heading3,
  Italic,
  Link,
  List,
  ListChecks,
  ListOrdered,
  type LucideIcon,
  Strikethrough,
  TextQuote,
  Underline,
} from 'lucide-react'
import {
  type KeyboardEvent,
  type Ref,
  type RefObject,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { m } from '../messages.gen.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { ControlGroup, focusOnMount } from '../ui/composite.tsx'
import { useOnChange } from '../ui/effects.ts'
import { letterOf, shortcutLabel } from '../ui/shortcuts.ts'
import { openMarkdown, richTextExtensions, toMarkdown } from './document.ts'
import { safeAddress } from './markdown.ts'
import styles from './rich-text.module.css'

/** Access to the text of an open editor. */
export interface RichTextHandle {
  /** The Markdown as edited so far. */
  read(): string
  focus(): void
}

export interface RichTextEditorProps {
  label: string
  /** Markdown. */
  value: string
  placeholder?: string
  maxLength?: number
  autoFocus?: boolean
  /** Receives the Markdown, if it changed, when the focus leaves the editor and on Ctrl+Enter. */
  onCommit?: (text: string) => void
  /** Called on Escape; the changes are dropped. */
  onCancel?: () => void
  ref?: Ref<RichTextHandle>
  /** Text that was typed while the editor loaded. */
  draft?: RefObject<string>
}

interface Tool {
  icon: LucideIcon
  label: string
  /** Node or mark at which the button is pressed. */
  type: string
  level?: 1 | 2 | 3
  shortcut?: string
  apply: (chain: ChainedCommands) => ChainedCommands
}

const heading = (level: 1 | 2 | 3, icon: LucideIcon, label: string): Tool => ({
  icon,
  label,
  type: 'heading',
  level,
  apply: (chain) => chain.toggleHeading({ level }),
})

const tools = (): Tool[] => [
  { icon: Bold, label: m.text_bold(), type: 'bold', shortcut: 'mod+b', apply: (chain) => chain.toggleBold() },
  {
    icon: Italic,
    label: m.text_italic(),
    type: 'italic',
    shortcut: 'mod+i',
    apply: (chain) => chain.toggleItalic(),
  },
  {
    icon: Underline,
    label: m.text_underline(),
    type: 'underline',
    shortcut: 'mod+u',
    apply: (chain) => chain.toggleUnderline(),
  },
  {
    icon: Strikethrough,
    label: m.text_strikethrough(),
    type: 'strike',
    apply: (chain) => chain.toggleStrike(),
  },
  { icon: Code, label: m.text_code(), type: 'code', apply: (chain) => chain.toggleCode() },
  heading(1, Heading1, m.text_heading_1()),
  heading(2, Heading2, m.text_heading_2()),
  heading(3, Heading3, m.text_heading_3()),
  {
    icon: TextQuote,
    label: m.text_quote(),
    type: 'blockquote',
    apply: (chain) => chain.toggleBlockquote(),
  },
  { icon: List, label: m.common_list(), type: 'bulletList', apply: (chain) => chain.toggleBulletList() },
  {
    icon: ListOrdered,
    label: m.text_numbered_list(),
    type: 'orderedList',
    apply: (chain) => chain.toggleOrderedList(),
  },
  {
    icon: ListChecks,
    label: m.text_checklist(),
    type: 'taskList',
    apply: (chain) => chain.toggleTaskList(),
  },
]

/** The editor of rich texts, with its toolbar. Reads and writes Markdown. */
export function TextEditor(props: RichTextEditorProps) {
  const { label, value, placeholder, maxLength = 20_000, autoFocus = false, onCommit, onCancel } = props
  const [initial] = useState(() => openMarkdown(props.draft?.current ?? value))
  const opened = useRef(initial)
  const lastValue = useRef(value)
  const isCancelled = useRef(false)
  const [isLinking, setLinking] = useState(false)
  const editor = useEditor({
    extensions: richTextExtensions(placeholder, maxLength),
    content: opened.current.content,
    textDirection: 'auto',
    injectCSS: false,
    editorProps: {
      attributes: {
        role: 'textbox',
        'aria-multiline': 'true',
        'aria-label': label,
        class: `${styles.text} ${styles.area}`,
      },
      // ProseMirror prevents the default of every Escape; the editor's owner handles it.
      handleDOMEvents: { keydown: (_, event) => event.key === 'Escape' },
      // Tiptap breaks the line on Ctrl+Enter, which commits here.
      handleKeyDown: (_, event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey),
      clipboardTextParser: (text, _context, isPlain, view) => {
        const source = isPlain ? { type: 'doc', content: plainParagraphs(text) } : openMarkdown(text).content
        const { content } = view.state.schema.nodeFromJSON(source)
        return Slice.maxOpen(content)
      },
    },
  })
  // Tiptap's own autofocus may come before the editor is in the page. When React holds back the first draw, Tiptap
  // destroys the editor and makes another one.
  useLayoutEffect(() => {
    if (!editor || editor.isDestroyed || !autoFocus) return
    editor.commands.setTextSelection(editor.state.doc.content.size)
    editor.view.focus()
  }, [editor, autoFocus])
  useImperativeHandle(
    props.ref,
    () => ({
      read: () => (editor ? toMarkdown(editor.state.doc, opened.current) : opened.current.text),
      focus: () => editor?.commands.focus('end'),
    }),
    [editor],
  )
  useOnChange([value], () => {
    if (!editor || value === lastValue.current) return
    lastValue.current = value
    const text = toMarkdown(editor.state.doc, opened.current)
    // What is being typed stays when somebody else saves; its commit comes later and wins.
    if (text !== value && text !== opened.current.text) return
    opened.current = openMarkdown(value)
    if (text !== value) editor.commands.setContent(opened.current.content, { emitUpdate: false })
  })
  const commit = () => {
    if (isCancelled.current || !editor || !onCommit) return
    const text = toMarkdown(editor.state.doc, opened.current)
    if (text !== value) onCommit(text)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const isMod = event.ctrlKey || event.metaKey
    const key = letterOf(event)
    // The page's own shortcuts on these keys stay out of the editor.
    if (isMod && 'biuk'.includes(key)) event.stopPropagation()
    if (isMod && key === 'k') {
      event.preventDefault()
      setLinking(true)
    } else if (key === 'enter' && isMod) {
      event.preventDefault()
      commit()
    } else if (key === 'escape' && onCancel) {
      event.preventDefault()
      isCancelled.current = true
      onCancel()
    }
  }
  if (!editor) return null
  return (
    <ControlGroup
      className={styles.editor}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) commit()
      }}
      onKeyDown={onKeyDown}
    >
      <Toolbar editor={editor} onLink={() => setLinking(true)} />
      {isLinking && <LinkForm editor={editor} onClose={() => setLinking(false)} />}
      <EditorContent editor={editor} />
    </ControlGroup>
  )
}

const plainParagraphs = (text: string) =>
  text.split(/\r\n?|\n/).map((line) => ({
    type: 'paragraph',
    content: line === '' ? [] : [{ type: 'text', text: line }],
  }))

function Toolbar({ editor, onLink }: { editor: Editor; onLink: () => void }) {
  const all = tools()
  const pressed = useEditorState({
    editor,
    selector: ({ editor: current }) =>
      [...all, { type: 'link', level: undefined }].map(({ type, level }) =>
        current.isActive(type, level === undefined ? {} : { level }),
      ),
  })
  return (
    <ToolbarProvider>
      <ToolbarRow className={styles.tools} aria-label={m.text_text_style()}>
        {all.map(({ icon, label, shortcut, apply }, at) => (
          <ToolButton
            key={label}
            icon={icon}
            label={label}
            shortcut={shortcut}
            isPressed={pressed[at] === true}
            onClick={() => apply(editor.chain().focus()).run()}
          />
        ))}
        <ToolButton
          icon={Link}
          label={m.common_link()}
          shortcut="mod+k"
          isPressed={pressed.at(-1) === true}
          onClick={onLink}
        />
      </ToolbarRow>
    </ToolbarProvider>
  )
}

function ToolButton(props: {
  icon: LucideIcon
  label: string
  shortcut: string | undefined
  isPressed: boolean
  onClick: () => void
}) {
  const { icon, label, shortcut, isPressed, onClick } = props
  return (
    <ToolbarItem
      aria-pressed={isPressed}
      // The text keeps its selection.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onClick}
      render={
        <IconButton
          icon={icon}
          iconSize={14}
          size="small"
          label={label}
          shortcut={shortcut === undefined ? undefined : shortcutLabel(shortcut)}
        />
      }
    />
  )
}

/** Asks for the address of the selected text, or changes or removes the link under the caret. */
function LinkForm({ editor, onClose }: { editor: Editor; onClose: () => void }) {
  const [address, setAddress] = useState(String(editor.getAttributes('link').href ?? ''))
  const [isRefused, setRefused] = useState(false)
  const message = useId()
  const close = () => {
    onClose()
    editor.commands.focus()
  }
  const apply = () => {
    const text = address.trim()
    const href = safeAddress(/^[a-z][a-z+.-]*:/i.test(text) ? text : `https://${text}`)
    if (href === null || text === '') return setRefused(true)
    const chain = editor.chain().focus().extendMarkRange('link')
    if (editor.state.selection.empty && !editor.isActive('link')) {
      chain.insertContent({ type: 'text', text, marks: [{ type: 'link', attrs: { href } }] }).run()
    } else chain.setLink({ href }).run()
    onClose()
  }
  return (
    <ControlGroup
      className={styles.link}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== 'Escape') return
        event.stopPropagation()
        if (event.key === 'Escape') close()
        else if (event.target instanceof HTMLInputElement) {
          event.preventDefault()
          apply()
        }
      }}
    >
      <input
        ref={focusOnMount}
        className={styles.address}
        type="url"
        dir="ltr"
        placeholder="https://"
        aria-label={m.text_link_address()}
        aria-invalid={isRefused || undefined}
        aria-describedby={isRefused ? message : undefined}
        value={address}
        onChange={(event) => {
          setAddress(event.target.value)
          setRefused(false)
        }}
      />
      <Button size="small" onClick={apply}>
        {m.text_set_link()}
      </Button>
      {editor.isActive('link') && (
        <Button
          size="small"
          variant="ghost"
          onClick={() => {
            editor.chain().focus().extendMarkRange('link').unsetLink().run()
            onClose()
          }}
        >
          {m.text_remove_link()}
        </Button>
      )}
      {isRefused && (
        <p id={message} role="alert" className={styles.refused}>
          {m.text_link_address_refused()}
        </p>
      )}
    </ControlGroup>
  )
}
