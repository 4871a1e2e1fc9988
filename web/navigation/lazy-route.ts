import { lazyRouteComponent } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { loadPart } from './lazy-screen.ts'

/** A screen of a route, in a file of its own. Apart from other parts: public forms have those, and no routes. */
export const lazyScreen = <K extends string>(load: () => Promise<Record<K, ComponentType>>, name: K) =>
  lazyRouteComponent(() => loadPart(load), name)
