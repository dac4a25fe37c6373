export { attention, attentionBackward } from './attention';
export { packBlocks } from './block-panels';
export { rmsNorm, rmsNormBackward, rope, swiglu, swigluBackward } from './elementwise';
export { linearBackwardWeight, multiply, packPanels } from './multiply';
export { embedPacked, layerLogitsPacked, multiplyPacked, multiplyPackedInput, packCodes, packHalves } from './packed';
export { copyRows, embed, embedBackward, l2Normalise, layerLogits } from './rows';
export { adam, crossEntropy, policyLoss, sumSquares } from './training';
