import { m } from '../messages.gen.ts'
import { isShortcut, isTyping, stepOfKey } from './shortcuts.ts'
import { toast } from './toast.ts'

/** Input that waits for the code that handles it. */
interface HeldInput {
  /** Stops holding, and dispatches what was held in its order; before any later input. */
  replay: () => Promise<void>
  /** Stops holding, and forgets what was held. */
  stop: () => void
}

interface HoldOptions {
  /**
   * True for keys that the element uses, and for keys that have to wait for what is held (`isWaiting`); the browser and
   * the rest of the page get all others.
   */
  usesKey: (event: KeyboardEvent, isWaiting: boolean) => boolean
  /** Gives the element the focus for a press: the browser does not do it for one that is held. */
  takeFocus: () => void
  /** Called for each held event. */
  onInput: () => void
}

const PRESSES = ['pointerdown', 'mousedown', 'click', 'dblclick', 'contextmenu']
/** Continue a press, wherever the pointer is by then. */
const MOVES = ['pointermove', 'pointerup', 'pointercancel', 'mouseup']
const DRAGS = ['dragover', 'drop']
const CLIPBOARD = ['copy', 'cut', 'paste']

/**
 * Holds the input of an element whose code is still loading, so that early keys, text, clicks, pastes and drops are not
 * lost. Scrolling is left to the browser.
 */
export function holdInput(element: HTMLElement, { usesKey, takeFocus, onInput }: HoldOptions): HeldInput {
  const held: (() => void)[] = []
  const listening = new AbortController()
  let isPressed = false
  let hasScrolled = false
  /** Of the last held copy or cut: a paste that follows gets what it copies, and not what the clipboard holds now. */
  let lastCopied: Copied | null = null

  const isInside = ({ target }: Event): boolean => target instanceof Node && element.contains(target)
  const takesKeys = (event: Event): boolean => keysFor === null && isInside(event)

  function hold(event: Event, dispatch: () => void): void {
    // A prevented pointerdown would suppress the mouse events that follow it.
    if (!(event instanceof PointerEvent) || event.type === 'click') event.preventDefault()
    event.stopImmediatePropagation()
    held.push(dispatch)
    onInput()
  }
  const repeat = (event: Event) => {
    const again = copyOf(event)
    return (): boolean => {
      const target = targetOf(event, element)
      // Another cell may be there by now: what follows was meant for the one that was pressed.
      if (hasScrolled && event instanceof MouseEvent && target !== event.target) {
        held.length = 0
        return false
      }
      return target.dispatchEvent(again)
    }
  }
  const listen = listenUntil(listening.signal)

  listen<MouseEvent>(PRESSES, (event) => {
    if (event.type === 'pointerdown') isPressed = isInside(event)
    // The element's own presses begin inside; a click may end outside.
    if (!isInside(event)) return
    hold(event, repeat(event))
    // Not at pointerdown: a touch may begin to scroll.
    if (event.type === 'mousedown') takeFocus()
  })
  listen<PointerEvent>(MOVES, (event) => {
    if (!isPressed) return
    if (event.type !== 'pointermove') isPressed = event.type !== 'mouseup'
    hold(event, repeat(event))
  })
  listen(['scroll'], (event) => {
    if (isInside(event) && held.length > 0) hasScrolled = true
  })
  listen<KeyboardEvent>(['keydown'], (event) => {
    if (!takesKeys(event) || isComposed(event) || !usesKey(event, held.length > 0)) return
    const dispatch = repeat(event)
    // A handler that leaves the key to the browser, such as an open editor, gets its text.
    hold(event, () => {
      if (dispatch() && !writeKey(event)) held.length = 0
    })
  })
  holdText({ listen, hold, takes: takesKeys })
  listen<DragEvent>(DRAGS, (event) => {
    if (isInside(event)) hold(event, event.type === 'drop' ? repeat(event) : () => {})
  })
  listen<ClipboardEvent>(CLIPBOARD, (event) => {
    if (!takesKeys(event)) return
    const { type } = event
    if (type === 'paste') {
      const [copied, paste] = [lastCopied, repeat(event)]
      return hold(event, () => {
        if (copied?.isRefused) return
        if (copied?.data) targetOf(event, element).dispatchEvent(pasteOf(copied.data))
        else paste()
      })
    }
    const copied: Copied = { data: null, isRefused: false }
    lastCopied = copied
    // Only an event of the browser may write the clipboard.
    hold(event, () => Object.assign(copied, copyNow(type)))
  })

  return {
    stop: () => listening.abort(),
    async replay() {
      listening.abort()
      const { activeElement } = document
      await dispatchAll(held)
      // A box that a shortcut has opened after the held presses keeps the focus.
      if (activeElement instanceof HTMLElement && isTyping(activeElement)) activeElement.focus()
    },
  }
}

/** What is typed while a dialog, a box or a new record is awaited. */
interface HeldKeys {
  /** The number of dialogs, boxes and records that are awaited. */
  loading: number
  typed: (() => void)[]
  /** One is true once the focus is where the keys belong. */
  isFocused: (() => boolean)[]
  /** See `HoldKeysOptions`. */
  onLeave: (() => void)[]
  /** True while an input method composes a word. */
  isComposing: () => boolean
  listening: AbortController
}

interface HoldKeysOptions {
  /** True once the focus is where the keys belong, besides any other element that takes text. */
  isFocused?: () => boolean
  /** Called when the person turns to something else: at a press of the pointer, Escape or a shortcut. */
  onLeave?: () => void
}

type Listen = <E extends Event>(types: readonly string[], onEvent: (event: E) => void) => void

interface HoldTextOptions {
  listen: Listen
  hold: (event: Event, dispatch: () => void) => void
  /** True for events whose text is held. */
  takes: (event: Event) => boolean
  /** Called if a composition begins outside text fields: rich text cannot be restored without its editor. */
  onOther?: () => void
}

/** A text field before an input method wrote into it. */
interface ComposedText {
  field: HTMLInputElement | HTMLTextAreaElement
  value: string
  start: number | null
  end: number | null
}

/** Null while nothing is awaited. */
let keysFor: HeldKeys | null = null

/** Frames within which a loaded dialog takes the focus. */
const FOCUS_FRAMES = 30

/**
 * Holds what is typed, composed by an input method or pasted anywhere while a dialog or box that takes the focus is loading,
 * or a new record is awaited, and types it there once it has the focus. Without this, it would go to the cell that was
 * selected before. What does not take the focus after all, or does not come (`ready` rejects), gets nothing. A press into a
 * text field ends it: that field gets what is typed from then on.
 */
export function holdKeys(ready: Promise<unknown>, { isFocused, onLeave }: HoldKeysOptions = {}): void {
  const keys = keysFor ?? listenToKeys()
  keysFor = keys
  if (isFocused) keys.isFocused.push(isFocused)
  if (onLeave) keys.onLeave.push(onLeave)
  keys.loading++
  const settle = (frames: number) => {
    keys.loading--
    if (keys === keysFor) typeOnceFocused(frames)
  }
  ready.then(
    () => settle(FOCUS_FRAMES),
    () => settle(0),
  )
}

function listenToKeys(): HeldKeys {
  const former = document.activeElement
  // Held presses may focus the receiver of a grid meanwhile, which forwards its text to a cell.
  const isInOtherField = () =>
    document.activeElement instanceof HTMLElement &&
    document.activeElement !== former &&
    document.activeElement !== document.body &&
    document.activeElement.dataset.shortcuts === undefined
  const keys: HeldKeys = {
    loading: 0,
    typed: [],
    isFocused: [isInOtherField],
    onLeave: [],
    isComposing: () => false,
    listening: new AbortController(),
  }
  const leave = () => {
    for (const onLeave of keys.onLeave) onLeave()
  }
  const { typed, listening } = keys
  const listen = listenUntil(listening.signal)
  const hold = (event: Event, dispatch: () => void) => {
    event.preventDefault()
    event.stopImmediatePropagation()
    typed.push(dispatch)
  }
  const repeat = (event: Event) => {
    const again = copyOf(event)
    return () => (document.activeElement ?? document.body).dispatchEvent(again)
  }
  listen<KeyboardEvent>(['keydown'], (event) => {
    if (isComposed(event) || MODIFIERS.has(event.key)) return
    const isHeld = !hasModifier(event) || writesText(event) || editsText(event)
    if (!isHeld || event.key === 'Escape') leave()
    if (!isHeld) return
    const dispatch = repeat(event)
    hold(event, () => {
      if (dispatch() && !writeKey(event)) typed.length = 0
    })
  })
  listen<ClipboardEvent>(['paste'], (event) => {
    const dispatch = repeat(event)
    const text = event.clipboardData?.getData('text/plain') ?? ''
    hold(event, () => dispatch() && insertText(text))
  })
  listen(['pointerdown'], leave)
  listen(['mousedown'], ({ target }) => {
    if (isTyping(target)) giveUp(keys)
  })
  keys.isComposing = holdText({ listen, hold, takes: () => true, onOther: () => giveUp(keys) })
  return keys
}

/**
 * Holds text without usable keys: of input methods and dead keys, and of Option on a Mac, emoji panels and dictation.
 * Returns a function that tells whether a word is in the making.
 */
function holdText({ listen, hold, takes, onOther }: HoldTextOptions): () => boolean {
  let composed: ComposedText | null = null
  listen<InputEvent>(['beforeinput'], (event) => {
    const { data } = event
    if (takes(event) && !event.isComposing && event.inputType === 'insertText' && data)
      hold(event, () => insertText(data))
  })
  listen<CompositionEvent>(['compositionstart'], (event) => {
    if (!takes(event)) return
    const { target: field } = event
    if (!(field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement)) return onOther?.()
    event.stopImmediatePropagation()
    composed = { field, value: field.value, start: field.selectionStart, end: field.selectionEnd }
  })
  listen<CompositionEvent | InputEvent>(['compositionupdate', 'input'], (event) => {
    if (composed?.field === event.target) event.stopImmediatePropagation()
  })
  listen<CompositionEvent>(['compositionend'], (event) => {
    if (!composed || composed.field !== event.target) return
    const { field, value, start, end } = composed
    const { data } = event
    if (data !== '') hold(event, () => insertText(data))
    event.stopImmediatePropagation()
    // Browsers write the text before this event or just after it.
    queueMicrotask(() => {
      field.value = value
      field.setSelectionRange(start, end)
      composed = null
    })
  })
  return () => composed !== null
}

function typeOnceFocused(frames: number): void {
  if (keysFor === null || keysFor.loading > 0) return
  const isFocused = keysFor.isFocused.some((holds) => holds())
  const isComposing = keysFor.isComposing()
  if (isComposing || (!isFocused && frames > 0)) {
    // A word in the making is held until it is complete, or ends because its field loses the focus.
    requestAnimationFrame(() => typeOnceFocused(isComposing ? frames : frames - 1))
    return
  }
  const { typed } = keysFor
  giveUp(keysFor)
  if (isFocused) void dispatchAll(typed)
}

/** Holds nothing any more. */
function giveUp({ listening }: HeldKeys): void {
  keysFor = null
  listening.abort()
}

/** `keyCode` of keys that an input method takes (UI Events, 7.3). */
const COMPOSED_KEY = 229

/** True for dead keys and keys that an input method takes: they become text by themselves. */
const isComposed = ({ isComposing, keyCode, key }: KeyboardEvent): boolean =>
  isComposing || keyCode === COMPOSED_KEY || key === 'Dead'

const MODIFIERS = new Set(['Shift', 'Control', 'Alt', 'AltGraph', 'Meta'])

/** @param held emptied by what makes the rest obsolete */
async function dispatchAll(held: (() => void)[]): Promise<void> {
  for (let dispatch = held.shift(); dispatch; dispatch = held.shift()) {
    dispatch()
    // React renders after each event in a microtask; no event of the browser comes in between.
    await Promise.resolve()
  }
}

/** Adds capturing listeners to the window until the signal aborts. */
const listenUntil =
  (signal: AbortSignal): Listen =>
  (types, onEvent) => {
    for (const type of types)
      window.addEventListener(type, onEvent as EventListener, { capture: true, signal })
  }

const hasModifier = ({ ctrlKey, metaKey, altKey }: KeyboardEvent): boolean => ctrlKey || metaKey || altKey

/** True for a key with a character, also with AltGr, which Windows and Linux report as Ctrl and Alt. */
const writesText = (event: KeyboardEvent): boolean =>
  event.key.length === 1 && (!hasModifier(event) || event.getModifierState('AltGraph'))

/** True for keys that save, undo, redo or select what is typed in a dialog. */
const editsText = (event: KeyboardEvent): boolean =>
  isShortcut(event, 'mod+enter') || isShortcut(event, 'mod+a') || stepOfKey(event) !== null

/** Commands of the browser would change the text field that had the focus before. */
const takesText = ({ activeElement }: Document): boolean =>
  activeElement instanceof HTMLElement &&
  (activeElement.isContentEditable || activeElement.matches('input, textarea'))

const insertText = (text: string): boolean =>
  takesText(document) && document.execCommand('insertText', false, text)

/**
 * What the browser does with a key in the focused input: a key that a script dispatches has no effect by itself.
 *
 * @returns false for keys that move the focus or the caret, which scripts cannot do: what follows would be typed elsewhere
 */
function writeKey(event: KeyboardEvent): boolean {
  const { key } = event
  const { activeElement } = document
  const step = stepOfKey(event)
  if (MOVING_KEYS.test(key)) return false
  if (!takesText(document)) return true
  if (writesText(event)) insertText(key)
  else if (step) document.execCommand(step)
  else if (isShortcut(event, 'mod+a')) document.execCommand('selectAll')
  else if (hasModifier(event)) return true
  else if (key === 'Backspace') document.execCommand('delete')
  else if (key === 'Delete') document.execCommand('forwardDelete')
  else if (key === 'Enter' && activeElement instanceof HTMLInputElement) activeElement.form?.requestSubmit()
  else if (key === 'Enter') document.execCommand('insertLineBreak')
  return true
}

const MOVING_KEYS = /^(?:Tab|Home|End|Page(?:Up|Down)|Arrow\w+)$/

/** The event's target, or what is now in its place. */
function targetOf(event: Event, element: HTMLElement): EventTarget {
  if (event instanceof MouseEvent) {
    const { target } = event
    if (target instanceof Node && target.isConnected) return target
    return document.elementFromPoint(event.clientX, event.clientY) ?? element
  }
  // Keys and pastes go where the focus is by now.
  const { activeElement } = document
  return activeElement && activeElement !== document.body ? activeElement : element
}

/** A copy that can be dispatched later; transferred data is only readable during its event. */
function copyOf(event: Event): Event {
  if (event instanceof ClipboardEvent) return pasteOf(dataOf(event.clipboardData))
  if (event instanceof DragEvent) {
    const { clientX, clientY } = event
    return new DragEvent(event.type, {
      ...BUBBLES,
      clientX,
      clientY,
      dataTransfer: dataOf(event.dataTransfer),
    })
  }
  // The properties of an event are those of the dictionary that its constructor reads.
  const Constructor = event.constructor as new (type: string, init: Event) => Event
  return new Constructor(event.type, event)
}

const pasteOf = (clipboardData: DataTransfer): Event =>
  new ClipboardEvent('paste', { ...BUBBLES, clipboardData })

/** What a copy or cut has put into the clipboard. */
interface Copied {
  /** Null if the browser copies selected text by itself. */
  data: DataTransfer | null
  /** True if the browser did not allow it: the press was too long ago. */
  isRefused: boolean
}

function copyNow(type: string): Copied {
  const copied: Copied = { data: null, isRefused: true }
  const take = (event: Event) => {
    copied.isRefused = false
    if (event.defaultPrevented) copied.data = dataOf((event as ClipboardEvent).clipboardData)
  }
  window.addEventListener(type, take)
  document.execCommand(type)
  window.removeEventListener(type, take)
  if (copied.isRefused) toast.info({ text: m.grid_ready_copy_press_shortcut_again() })
  return copied
}

const BUBBLES = { bubbles: true, cancelable: true, composed: true }

function dataOf(data: DataTransfer | null): DataTransfer {
  const copy = new DataTransfer()
  for (const type of data?.types ?? []) if (type !== 'Files') copy.setData(type, data?.getData(type) ?? '')
  for (const file of data?.files ?? []) copy.items.add(file)
  return copy
}
