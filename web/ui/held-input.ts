import { isTyping } from './shortcuts.ts'

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
  /** Called for each held event. */
  onInput: () => void
}

const PRESSES = ['pointerdown', 'mousedown', 'click', 'dblclick', 'contextmenu']
/** Continue a press, wherever the pointer is by then. */
const MOVES = ['pointermove', 'pointerup', 'pointercancel', 'mouseup']
const DRAGS = ['dragover', 'drop']
const CLIPBOARD = ['copy', 'cut', 'paste']

/**
 * Holds the input of an element whose code is still loading, so that early keys, clicks, pastes and drops are not lost.
 * Scrolling and composed text (input methods) are left to the browser.
 */
export function holdInput(element: HTMLElement, { usesKey, onInput }: HoldOptions): HeldInput {
  const held: (() => void)[] = []
  const listening = new AbortController()
  /** A press moves the focus into the element as soon as it is replayed: later keys belong to it. */
  let takesFocus = false
  let isPressed = false
  let hasScrolled = false

  const isInside = ({ target }: Event): boolean => target instanceof Node && element.contains(target)
  const takesKeys = (event: Event): boolean =>
    isInside(event) || (takesFocus && event.target === document.body)

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
  const listen = <E extends Event>(types: readonly string[], onEvent: (event: E) => void) => {
    for (const type of types)
      window.addEventListener(type, onEvent as EventListener, { capture: true, signal: listening.signal })
  }

  listen<MouseEvent>(PRESSES, (event) => {
    if (event.type === 'pointerdown') takesFocus = isPressed = isInside(event)
    // The element's own presses begin inside; a click may end outside.
    if (isInside(event)) hold(event, repeat(event))
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
    if (keysFor !== null || !takesKeys(event) || event.isComposing) return
    if (!usesKey(event, held.length > 0)) return
    const dispatch = repeat(event)
    // A handler that leaves the key to the browser, such as an open editor, gets its text.
    hold(event, () => {
      if (dispatch() && !writeKey(event)) held.length = 0
    })
  })
  listen<DragEvent>(DRAGS, (event) => {
    if (isInside(event)) hold(event, event.type === 'drop' ? repeat(event) : () => {})
  })
  listen<ClipboardEvent>(CLIPBOARD, (event) => {
    if (keysFor !== null || !takesKeys(event)) return
    // Only an event of the browser may write the clipboard.
    hold(event, event.type === 'paste' ? repeat(event) : () => void document.execCommand(event.type))
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

/** What is typed while dialogs and boxes load. */
interface HeldKeys {
  /** The number of dialogs and boxes that are loading. */
  loading: number
  typed: (() => void)[]
  /** The element that had the focus before. */
  former: Element | null
  /** The text that an input method composes in `former`; null while it composes none. */
  composed: ComposedText | null
  listening: AbortController
}

/** A text field before an input method wrote into it. */
interface ComposedText {
  field: HTMLInputElement | HTMLTextAreaElement
  value: string
  start: number | null
  end: number | null
}

/** Null while nothing is loading. */
let keysFor: HeldKeys | null = null

/** Frames within which a loaded dialog takes the focus. */
const FOCUS_FRAMES = 30

/**
 * Holds what is typed, composed by an input method or pasted anywhere while a dialog or box that takes the focus is loading,
 * and types it there once it has the focus. Without this, it would go to the cell that was selected before. What does not
 * take the focus after all, or cannot be loaded, gets nothing.
 */
export function holdKeys(ready: Promise<unknown>): void {
  const keys = keysFor ?? listenToKeys()
  keysFor = keys
  keys.loading++
  const settle = () => {
    keys.loading--
    typeOnceFocused(FOCUS_FRAMES)
  }
  ready.then(settle, settle)
}

function listenToKeys(): HeldKeys {
  const keys: HeldKeys = {
    loading: 0,
    typed: [],
    former: document.activeElement,
    composed: null,
    listening: new AbortController(),
  }
  const { typed, listening } = keys
  const listen = <E extends Event>(types: readonly string[], onEvent: (event: E) => void) => {
    for (const type of types)
      window.addEventListener(type, onEvent as EventListener, { capture: true, signal: listening.signal })
  }
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
    // Dead keys, and keys that an input method takes, become text by themselves.
    if (event.isComposing || event.keyCode === COMPOSED_KEY || event.key === 'Dead') return
    const { key, ctrlKey, metaKey, altKey } = event
    if (MODIFIERS.has(key) || ((ctrlKey || metaKey || altKey) && !writesText(event))) return
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
  // Text without a key, such as that of Option on a Mac and of emoji panels.
  listen<InputEvent>(['beforeinput'], (event) => {
    const { data } = event
    if (!event.isComposing && event.inputType === 'insertText' && data) hold(event, () => insertText(data))
  })
  listen<CompositionEvent>(['compositionstart'], (event) => {
    const { target: field } = event
    const isField = field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement
    if (!isField) {
      // The composition goes on where it began: rich text cannot be brought back without its editor.
      giveUp(keys)
      return
    }
    event.stopImmediatePropagation()
    keys.composed = { field, value: field.value, start: field.selectionStart, end: field.selectionEnd }
  })
  listen<CompositionEvent | InputEvent>(['compositionupdate', 'input'], (event) => {
    if (keys.composed?.field === event.target) event.stopImmediatePropagation()
  })
  listen<CompositionEvent>(['compositionend'], (event) => {
    const { composed } = keys
    if (composed?.field !== event.target) return
    const { data } = event
    if (data !== '') hold(event, () => insertText(data))
    event.stopImmediatePropagation()
    // Browsers write the text before this event or just after it.
    queueMicrotask(() => {
      composed.field.value = composed.value
      composed.field.setSelectionRange(composed.start, composed.end)
      keys.composed = null
    })
  })
  return keys
}

function typeOnceFocused(frames: number): void {
  if (keysFor === null || keysFor.loading > 0) return
  const { activeElement } = document
  // Held presses may focus the receiver of a grid meanwhile, which forwards its text to a cell.
  const isFocused =
    activeElement instanceof HTMLElement &&
    activeElement !== keysFor.former &&
    activeElement !== document.body &&
    activeElement.dataset.shortcuts === undefined
  const { composed } = keysFor
  if (composed || (!isFocused && frames > 0)) {
    // A word in the making is held until it is complete, or ends because its field loses the focus.
    requestAnimationFrame(() => typeOnceFocused(composed ? frames : frames - 1))
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

const MODIFIERS = new Set(['Shift', 'Control', 'Alt', 'AltGraph', 'Meta'])

/** @param held emptied by what makes the rest obsolete */
async function dispatchAll(held: (() => void)[]): Promise<void> {
  for (let dispatch = held.shift(); dispatch; dispatch = held.shift()) {
    dispatch()
    // React renders after each event in a microtask; no event of the browser comes in between.
    await Promise.resolve()
  }
}

/** True for a key with a character, also with AltGr, which Windows and Linux report as Ctrl and Alt. */
const writesText = (event: KeyboardEvent): boolean => {
  const { key, ctrlKey, metaKey, altKey } = event
  return key.length === 1 && (!(ctrlKey || metaKey || altKey) || event.getModifierState('AltGraph'))
}

const insertText = (text: string): boolean => document.execCommand('insertText', false, text)

/**
 * What the browser does with a key in the focused input: a key that a script dispatches has no effect by itself.
 *
 * @returns false for keys that move the focus or the caret, which scripts cannot do: what follows would be typed elsewhere
 */
function writeKey(event: KeyboardEvent): boolean {
  const { key, ctrlKey, metaKey, altKey } = event
  const { activeElement } = document
  if (writesText(event)) insertText(key)
  else if (MOVING_KEYS.test(key)) return false
  else if (ctrlKey || metaKey || altKey) return true
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
  if (event instanceof ClipboardEvent)
    return new ClipboardEvent(event.type, { ...BUBBLES, clipboardData: dataOf(event.clipboardData) })
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

const BUBBLES = { bubbles: true, cancelable: true, composed: true }

function dataOf(data: DataTransfer | null): DataTransfer {
  const copy = new DataTransfer()
  for (const type of data?.types ?? []) if (type !== 'Files') copy.setData(type, data?.getData(type) ?? '')
  for (const file of data?.files ?? []) copy.items.add(file)
  return copy
}
