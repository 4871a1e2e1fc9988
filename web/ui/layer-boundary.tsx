import { Component, type ReactNode } from 'react'
import { isDomConflict, mayRenderAgain } from '../navigation/dom-conflicts.ts'

interface LayerBoundaryProps {
  /** Closes the layer and says why. */
  onFailure: (error: unknown) => void
  children: ReactNode
}

/**
 * Limits a failure of a dialog, menu or tooltip to itself, such as code that could not be loaded: the page below stays.
 * Errors caused by foreign DOM changes render again instead.
 */
export class LayerBoundary extends Component<LayerBoundaryProps, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true }
  }

  override componentDidCatch(error: unknown): void {
    if (isDomConflict(error) && mayRenderAgain()) this.setState({ hasFailed: false })
    else this.props.onFailure(error)
  }

  override render(): ReactNode {
    return this.state.hasFailed ? null : this.props.children
  }
}
