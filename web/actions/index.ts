import { useEffect, useRef } from 'react'
import { showError } from '../ui/attempt.ts'
import { isShortcut, isTyping } from '../ui/shortcuts.ts'
import { type Action, type ActionContext, actionContext } from './action.ts'

/** Actions that every screen offers. */
let appActions: readonly Action[] = []

/** Registers the actions of every screen; called once by the shell. */
export function provideAppActions(actions: readonly Action[]): void {
  appActions = actions
}

/** Actions of the mounted screens, the latest first. */
let screenActions: { current: readonly Action[] }[] = []

/** All actions available in the context, those of the current screen first. */
export const actionsFor = (context: ActionContext): Action[] =>
  [...screenActions.flatMap(({ current }) => current), ...appActions].filter(
    (action) => action.when?.(context) ?? true,
  )

/** The available action whose shortcut a key press is. Text inputs keep the keys that write: there, only `mod` shortcuts apply. */
export function actionOfKey(event: KeyboardEvent, context = actionContext()): Action | undefined {
  const typing = isTyping(event.target)
  return actionsFor(context).find(({ shortcut }) => {
    if (!shortcut || !isShortcut(event, shortcut)) return false
    return !typing || shortcut.startsWith('mod+')
  })
}

/** Runs an action, and reports its failure. */
export function runAction(action: Action, context = actionContext()): void {
  Promise.resolve(action.run(context)).catch(showError)
}

/** Offers a screen's own actions in the palette, the key map and the shortcut sheet while it is mounted. */
export function useScreenActions(actions: readonly Action[]): void {
  const latest = useRef(actions)
  latest.current = actions
  useEffect(() => {
    screenActions = [latest, ...screenActions]
    return () => {
      screenActions = screenActions.filter((one) => one !== latest)
    }
  }, [])
}

/** Keys that a screen handles itself, e.g. the grid's arrows, as the shortcut sheet lists them. */
export interface ShortcutSection {
  title: () => string
  lines: { keys: string[]; label: () => string }[]
}

let sections: ShortcutSection[] = []

/** Sections of the screens that are mounted. */
export const shortcutSections = (): readonly ShortcutSection[] => sections

/** Adds a section to the shortcut sheet while the screen is mounted. */
export function useShortcutSection(section: ShortcutSection): void {
  useEffect(() => {
    sections = [...sections, section]
    return () => {
      sections = sections.filter((one) => one !== section)
    }
  }, [section])
}
