export { attention, attentionBackward } from './attention';
export { rmsNorm, rmsNormBackward, rope, swiglu, swigluBackward } from './elementwise';
export { linearBackwardWeight, multiply, packPanels } from './multiply';
export { embedPacked, layerLogitsPacked, multiplyPacked, multiplyPackedInput, packCodes, packHalves } from './packed';
export { copyRows, embed, embedBackward, layerLogits } from './rows';
export { adam, crossEntropy, sumSquares } from './training';
